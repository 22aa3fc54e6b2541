/** The language of the parts that console and portal share. Without a provider around them they are English. */
import { createContext, useContext } from 'react'
import { type PartWords, partWords } from '../i18n/part-words.ts'
import { relativeTime } from './formats.ts'

export interface PartLanguage extends PartWords {
  /** Writes a span of time, ms: `in 12 s`, `3 min ago`. */
  relativeTime(ms: number): string
  /** Writes a time that the API has answered. */
  exactTime(at: string): string
}

const english: PartLanguage = { ...partWords, relativeTime, exactTime: (at) => at }

export const PartLanguageContext = createContext(english)

export function usePartLanguage(): PartLanguage {
  return useContext(PartLanguageContext)
}
