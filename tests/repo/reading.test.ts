/** Checks that the index has every document, and that the glossary and pages for newcomers stay short. */
import { relative } from 'node:path'
import { expect, test } from 'vitest'
import { filesMatching, textOf } from './repository.ts'

test('the index names every document', () => {
  const links = [...textOf('docs/README.md').matchAll(/\]\(([^)#]+)\)/g)].map(([, link]) => link)
  const documents = filesMatching('docs/**/*.md').filter((path) => path !== 'docs/README.md')
  expect(documents.filter((path) => !links.includes(relative('docs', path)))).toEqual([])
})

const GLOSSARY_WORDS_MAX = 100

test('the glossary is short and sorted, and explains each word once', () => {
  const words = [...textOf('docs/glossary.md').matchAll(/^- \*\*(.+?)\*\*:/gm)].map(([, word = '']) => word)
  expect(words.length).toBeGreaterThan(60)
  expect(words.length).toBeLessThanOrEqual(GLOSSARY_WORDS_MAX)
  const sorted = [...new Set(words)].toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
  expect(words).toEqual(sorted)
})

test('the way of a message through the files is a page that names few files', () => {
  const page = textOf('docs/internals.md')
  expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  const named = new Set(page.match(/[\w/-]+\.(?:ts|lua)(?=`)/g))
  expect(named.size).toBeGreaterThan(10)
  expect(named.size).toBeLessThanOrEqual(18)
})

test('the page for contributors and the page on AWS are short enough to be read at once', () => {
  expect(Buffer.byteLength(textOf('CONTRIBUTING.md'))).toBeLessThanOrEqual(10_240)
  expect(textOf('docs/aws-compatibility.md').split(/\s+/).length).toBeLessThanOrEqual(1_250)
})

test('the README says in five lines what Fantail is, for whom, what it is not, and where packages come from', () => {
  const [, first = ''] = textOf('README.md').split('\n\n')
  expect(first.split('\n').length).toBeLessThanOrEqual(5)
  for (const part of ['It is for ', 'It is no ', '](#packages)']) expect(first).toContain(part)
})
