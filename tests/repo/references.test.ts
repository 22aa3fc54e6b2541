/**
 * Every reference in comments and documents exists: a file of this repository, a row of the checklist
 * (docs/aws-checklist.md, cited as `checklist 67 to 69`), an RFC by number, or a public address.
 */
import { expect, test } from 'vitest'
import { filesMatching, textOf } from './repository.ts'

const CHECKLIST = 'docs/aws-checklist.md'
const OWN = 'tests/repo/references.test.ts'
const places = [
  ...filesMatching('{packages,services,infra,tests,docs,examples,.ci}/**/*'),
  ...filesMatching('{*,.env.example}'),
].map((path) => `/${path}`)
const sources = filesMatching('{packages,services,infra,tests}/**/*.{ts,tsx,mjs,lua}').filter(
  (path) => path !== OWN,
)
const documents = filesMatching('{*,docs/**/*,examples/**/*}.md')

/** The comments of a source as running text, without the marks that lines begin with. */
function commentsIn(path: string, text: string): string {
  const comments = path.endsWith('.lua')
    ? text.matchAll(/--(.*)/g)
    : text.matchAll(/(?:^|\s)(?:\/\*([\s\S]*?)\*\/|\/\/(.*))/gm)
  return [...comments].map(([, block, line]) => (block ?? line ?? '').replace(/\n\s*\*/g, ' ')).join('\n')
}

const FILE = /\.(tsx?|mjs|lua|md)$/

/** Names of files that do not exist in the repository. Addresses and patterns are left out. */
function lostFiles(text: string): string[] {
  return text
    .replace(/https?:\/\/\S+/g, '')
    .split(/[\s,;:()'"`|[\]]+/)
    .map((word) => word.replace(/^(\.{1,2}\/)+|[.#?!].{0,1}$/g, '').replace(/#.*$/, ''))
    .filter((word) => FILE.test(word) && !/[<>*{}$]|^-/.test(word))
    .filter((word) => !places.some((place) => place.endsWith(`/${word.replace(/^\//, '')}`)))
}

/** Sections of anything but an RFC. */
function lostSections(text: string): string[] {
  return text.replace(/RFC \d+ §[\d.]+/g, '').match(/\S*\s?§\S*/g) ?? []
}

const rows = new Set([...textOf(CHECKLIST).matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number)))

/** Numbers that are cited as rows of the checklist but do not exist. */
function lostRows(text: string): number[] {
  const cited = [...text.matchAll(/\bchecklist\s+(\d+(?:(?:,\s+|\s+to\s+|\s+and\s+)\d+)*)/g)]
  return cited
    .flatMap(([, numbers = '']) => numbers.match(/\d+/g)?.map(Number) ?? [])
    .filter((n) => !rows.has(n))
}

const lost = (text: string) => [...lostFiles(text), ...lostSections(text), ...lostRows(text)]

test('a reference that leads nowhere is found', () => {
  const comments = commentsIn(
    'a.ts',
    "/** See no-such.ts, store/src/keys/keys.ts and notes.md §2.1 (checklist 67 to\n * 967). */\nconst a = 'b.ts' // RFC 9110 §5.5\n",
  )
  expect(lost(comments)).toEqual(['no-such.ts', 'notes.md', 'notes.md §2.1', 967])
  expect(lost(commentsIn('a.lua', "local a = 'b.lua' -- the model: gone.ts\n"))).toEqual(['gone.ts'])
})

test('comments refer to what can be found', () => {
  const found = sources.map((path) => [path, lost(commentsIn(path, textOf(path)))])
  expect(found.filter(([, names]) => names?.length)).toEqual([])
})

test('documents refer to what can be found', () => {
  const found = documents.map((path) => [path, lost(textOf(path))])
  expect(found.filter(([, names]) => names?.length)).toEqual([])
})

test('every number in brackets in the pages on AWS is a row of the checklist', () => {
  const pages = filesMatching('docs/aws-*.md').map(textOf).join('\n')
  const cited = [...pages.matchAll(/\[(\d+)\](?!\()/g)].map(([, number]) => Number(number))
  expect(cited.length).toBeGreaterThan(5)
  expect(cited.filter((number) => !rows.has(number))).toEqual([])
})
