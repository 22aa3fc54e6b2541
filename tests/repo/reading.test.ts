/**
 * Checks that the index has every document, that the glossary is sorted, and that the path through the files is short.
 */
import { relative } from 'node:path'
import { expect, test } from 'vitest'
import { filesMatching, textOf } from './repository.ts'

test('the index names every document', () => {
  const links = [...textOf('docs/README.md').matchAll(/\]\(([^)#]+)\)/g)].map(([, link]) => link)
  const documents = filesMatching('docs/**/*.md').filter((path) => path !== 'docs/README.md')
  expect(documents.filter((path) => !links.includes(relative('docs', path)))).toEqual([])
})

test('the glossary is sorted, and explains each word once', () => {
  const words = [...textOf('docs/glossary.md').matchAll(/^- \*\*(.+?)\*\*:/gm)].map(([, word = '']) => word)
  expect(words.length).toBeGreaterThan(60)
  const sorted = [...new Set(words)].toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
  expect(words).toEqual(sorted)
})

test('the way of a message through the files fits on 90 lines', () => {
  expect(textOf('docs/internals.md').trimEnd().split('\n').length).toBeLessThanOrEqual(90)
})
