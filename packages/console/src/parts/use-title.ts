/** The title of a page whose address has an id where people know a name. */
import { useEffect } from 'react'
import { words } from '../i18n/en.ts'

/** The frame sets a title from the address first. The name follows when it was read. */
export function useTitle(name: string | undefined, page: string): void {
  useEffect(() => {
    if (name !== undefined) document.title = [name, page, words.product].join(' · ')
  })
}
