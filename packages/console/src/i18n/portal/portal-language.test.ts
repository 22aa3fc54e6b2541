/** The choice of a language, and numbers and times in it. */
import { expect, test } from 'vitest'
import { formatsIn } from './portal-formats.ts'
import { loadLanguage } from './portal-language.ts'

const chosen = async (link: string | null, browser: readonly string[]) => {
  const { language, words, formats } = await loadLanguage({ link, browser })
  return [language, words.cancel, formats.number(1234.5)]
}

test.each([
  ['the browser’s', null, ['de-AT', 'en'], ['de', 'Abbrechen', '1\u00a0234,5']],
  ['that of the link, before the browser’s', 'de', ['en-US'], ['de', 'Abbrechen', '1.234,5']],
  ['the next one that has a table', null, ['fr', 'de'], ['de', 'Abbrechen', '1.234,5']],
  ['English, if none of them has a table', 'constructor', ['fr-FR'], ['en', 'Cancel', '1,234.5']],
  ['the browser’s, if that of the link is no language', 'de_!', ['en-GB'], ['en', 'Cancel', '1,234.5']],
])('the language is %s', async (_, link, browser, expected) => {
  expect(await chosen(link, browser)).toEqual(expected)
})

test('times are written in the largest unit that fits', () => {
  const { relative, duration } = formatsIn('en')
  expect([-200, 12_900, -180_000, 7_200_000, -86_400_000].map(relative)).toEqual([
    'now',
    'in 12 sec.',
    '3 min. ago',
    'in 2 hr.',
    'yesterday',
  ])
  expect([42.4, 1_540, 90_000].map(duration)).toEqual(['42 ms', '1.5 sec', '1.5 min'])
  expect(formatsIn('de').duration(1_540)).toBe('1,5 Sek.')
})
