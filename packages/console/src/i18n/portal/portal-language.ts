/**
 * The language of the portal. The link may name one, else the browser does. A further language is a table beside
 * `portal-de.ts` and its line below. English is always there, and other tables are loaded when they are chosen.
 */
import { createContext, useContext } from 'react'
import { type PortalWords, portalEn } from './portal-en.ts'
import { formatsIn, type PortalFormats } from './portal-formats.ts'

const TABLES = {
  en: () => Promise.resolve(portalEn),
  de: async () => (await import('./portal-de.ts')).portalDe,
} satisfies Record<string, () => Promise<PortalWords>>

type Language = keyof typeof TABLES

interface PortalLanguage {
  language: Language
  words: PortalWords
  formats: PortalFormats
}

interface Wishes {
  /** The language that the link names; null: none. */
  link: string | null
  /** Tags of BCP 47, the most wanted first. */
  browser: readonly string[]
}

/**
 * Words in the first wanted language that has a table, else in English. Dates and numbers follow the region of the
 * browser if it has the same language: `de-AT` for German.
 */
export async function loadLanguage({ link, browser }: Wishes): Promise<PortalLanguage> {
  const wanted = link === null ? browser : [link, ...browser]
  const language = wanted.map(primaryOf).find(hasTable) ?? 'en'
  const locale = browser.find((tag) => primaryOf(tag) === language) ?? language
  return { language, words: await TABLES[language](), formats: formatsIn(locale) }
}

const primaryOf = (tag: string) => tag.toLowerCase().split('-', 1)[0] ?? ''

function hasTable(language: string): language is Language {
  return Object.hasOwn(TABLES, language)
}

const LanguageContext = createContext<PortalLanguage>({
  language: 'en',
  words: portalEn,
  formats: formatsIn('en'),
})

export const LanguageProvider = LanguageContext.Provider

export function useLanguage(): PortalLanguage {
  return useContext(LanguageContext)
}
