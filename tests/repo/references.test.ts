/**
 * Every reference in comments and documents exists: a file of this repository, a row of the checklist
 * (docs/aws-checklist.md, cited as `checklist 67 to 69`), an RFC by number, or a public address. No command gets a
 * package of this project from npm before it is published there.
 */
import { expect, test } from 'vitest'
import { PUBLISHED, SCOPE } from '../../infra/release/tarball-checks.mjs'
import { filesMatching, manifests, textOf } from './repository.ts'

const CHECKLIST = 'docs/aws-checklist.md'
const OWN = 'tests/repo/references.test.ts'
const places = [
  ...filesMatching('{packages,services,infra,tests,docs,examples,.ci}/**/*'),
  ...filesMatching('{*,.env.example}'),
].map((path) => `/${path}`)
const sources = filesMatching('{packages,services,infra,tests}/**/*.{ts,tsx,mjs,lua}').filter(
  (path) => path !== OWN,
)
const documents = filesMatching('{*,docs/**/*,examples/**/*,packages/*/README}.md')

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

/** A command that gets packages from npm, up to the next command. */
const GETS = /\b(?:npx|bunx|(?:npm|pnpm|yarn|bun) +(?:install|add|exec|dlx|i|x))\b[^\n`"'&|;]*/g
/** A package by its name. A file of a package has a longer name. */
const NAMED = new RegExp(`(?<![^ =])(?:fantail|${SCOPE}/[\\w-]+)(?:@\\S+)?(?![\\w/-]|\\.\\w)`)

const fetched = (text: string) => (text.match(GETS) ?? []).filter((command) => NAMED.test(command))

test('a command that gets a package of Fantail from npm is found, and one that takes a file is not', () => {
  const lines = [
    'Run `npx --yes fantail@1 dev`.',
    `npx --package=${SCOPE}/cli fantail`,
    `npm install --save-dev vitest ${SCOPE}/testing`,
    'pnpm add fantail',
    'yarn dlx fantail',
  ]
  expect(lines.filter((line) => fetched(line).length === 0)).toEqual([])
  const files = 'npm install ../.fantail/release/*/fantail-cli-*.tgz && fantail dev\nnpm run fantail -- dev\n'
  expect(fetched(`${files}npx pnpm@12 install; cd fantail`)).toEqual([])
})

// `fantail` on npm is somebody else's package. If a release is published, names below the scope are right.
test('no document, example or printed hint gets a package of Fantail from npm', () => {
  const others = filesMatching(
    '{*,{packages,services,infra,tests,docs,examples}/**/*}.{json,js,jsx,yaml,yml,py,go,env,service}',
  )
  const paths = [
    ...documents,
    ...sources,
    ...filesMatching('{examples/**/*.{ts,mjs},.env.example}'),
    ...others,
  ]
  const found = paths.flatMap((path) => fetched(textOf(path)).map((command) => `${path}: ${command}`))
  expect(found).toEqual([])
})

const PROGRAM = new RegExp(`^import .*'${SCOPE}/(?:${PUBLISHED.join('|')})\\b`, 'm')

test('a document with a program that uses a package of Fantail says where the package comes from', () => {
  const using = documents.filter((path) => PROGRAM.test(textOf(path)))
  expect(using.length).toBeGreaterThan(3)
  expect(using.filter((path) => !textOf(path).includes('README.md#packages'))).toEqual([])
})

test('the command of an example installs the packages of Fantail from their files', () => {
  const missing = filesMatching('examples/*/package.json').flatMap((path) => {
    const { dependencies } = JSON.parse(textOf(path)) as { dependencies: Record<string, string> }
    const own = Object.keys(dependencies).filter((name) => name.startsWith(`${SCOPE}/`))
    const readme = textOf(path.replace('package.json', 'README.md'))
    return own.filter((name) => !readme.includes(`/${name.slice(1).replace('/', '-')}-*.tgz`))
  })
  expect(missing).toEqual([])
})

test('published packages are called like their folders, below the scope, and stand in the README', () => {
  const all = manifests()
  expect(all.filter(({ name }) => !name.startsWith(`${SCOPE}/`))).toEqual([])
  const published = all.filter((manifest) => !manifest.private)
  expect(published.map(({ folder, name }) => [folder, name]).toSorted()).toEqual(
    PUBLISHED.map((name) => [`packages/${name}`, `${SCOPE}/${name}`]).toSorted(),
  )
  expect(published.filter(({ name }) => !textOf('README.md').includes(`\n| \`${name}\` |`))).toEqual([])
})
