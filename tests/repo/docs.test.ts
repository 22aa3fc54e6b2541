/**
 * Checks that all files, folders, links, commands and settings that the documents name exist, and that they list the
 * statuses that are retried.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DELIVERY_CAUSES, RETRY_ON_DEFAULT } from '@fantail/contracts'
import { OWN_FORMAT } from '@fantail/store'
import { expect, test } from 'vitest'
import { filesMatching, ROOT, textOf } from './repository.ts'

const documents = filesMatching('{README,CONTRIBUTING,SECURITY,docs/*,docs/guides/*}.md')
const files = [
  ...filesMatching('{packages,services,infra,tests,docs}/**/*'),
  ...filesMatching('{*,.env.example,.ci/*}'),
].map((path) => `/${path}`)

const FILE = /\.(ts|mjs|lua|json|ya?ml|conf|md)$/
/** Paths that a running process makes, paths in a home directory, and paths of the API. */
const ELSEWHERE = /^(\.fantail\/|dist\/|\/|~\/|\w+:\/\/)/

/** Code in backticks, and indented lines. */
function codeIn(text: string): string[] {
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)
  const lines = [...text.matchAll(/^ {4}(\S.*)$/gm)].map(([, line = '']) => line)
  return [...spans, ...lines]
}

function pathsIn(text: string): string[] {
  return codeIn(text)
    .flatMap((code) => code.split(/[\s,;()'"]+/))
    .filter((word) => (FILE.test(word) || word.endsWith('/')) && !/[<>*{}$]/.test(word))
    .filter((word) => !ELSEWHERE.test(word))
}

/** Whether the text is the end of a file's path, or any part of a folder's. */
function isThere(path: string): boolean {
  const named = `/${path.replace(/^\.\//, '')}`
  return files.some((file) => (path.endsWith('/') ? file.includes(named) : file.endsWith(named)))
}

/** The anchors that GitHub makes from headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('a path is found in a span or a line of code, and known by its end', () => {
  const text = 'Open `store/src/no-such.ts`, `docs/scaling.md`:\n\n    node tests/no-such/main.ts -- x\n'
  expect(pathsIn(text).filter((path) => !isThere(path))).toEqual([
    'store/src/no-such.ts',
    'tests/no-such/main.ts',
  ])
})

test.each(documents)('%s names files, folders and commands that are there', (document) => {
  const text = textOf(document)
  expect(pathsIn(text).filter((path) => !isThere(path))).toEqual([])
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  const commands = codeIn(text).flatMap((code) => [...code.matchAll(/\b(?:npm run(?: -s)?|pnpm) ([a-z:]+)/g)])
  expect(commands.map(([, name = '']) => name).filter((name) => !(name in scripts))).toEqual([])
})

test.each(documents)('links of %s lead somewhere', (document) => {
  const links = [...textOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const dead = links.filter((link) => {
    if (link.includes('://')) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? document : join(dirname(document), path)
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor)
  })
  expect(dead).toEqual([])
})

const SETTING = /\b(?:FANTAIL|REDIS)_[A-Z0-9_]*[A-Z0-9]\b/g
const namesIn = (path: string) => [...new Set(textOf(path).match(SETTING))]

test('every setting that documents and compose name is one of the services, the command line, or the tests', () => {
  // A test in packages/config compares this file with the tables of settings.
  const ofServices = namesIn('.env.example')
  expect(ofServices.length).toBeGreaterThan(30)
  const ofTools = filesMatching(
    '{packages/{command-line,test-kit}/src,tests/{harness,failure}}/**/*.ts',
  ).flatMap(namesIn)
  const known = new Set([...ofServices, ...ofTools, ...namesIn('package.json')])
  for (const path of [...documents, 'infra/compose.yaml', 'infra/docker/Dockerfile']) {
    expect([path, namesIn(path).filter((name) => !known.has(name))]).toEqual([path, []])
  }
})

test('every cause of a delivery stands in its document, with the sentence of the API', () => {
  const rows = [...textOf('docs/why.md').matchAll(/^\| `(\w+)` \| ([^|]+) \|$/gm)]
  expect(Object.fromEntries(rows.map(([, cause, meaning]) => [cause, meaning]))).toEqual(DELIVERY_CAUSES)
})

const listed = (type: 'conjunction' | 'disjunction', statuses: readonly string[]) =>
  new Intl.ListFormat('en-GB', { type }).format(statuses)
const either = listed('disjunction', RETRY_ON_DEFAULT)
const both = listed('conjunction', RETRY_ON_DEFAULT)
/** Refusals of a client that are retried all the same. */
const exceptions = listed(
  'conjunction',
  RETRY_ON_DEFAULT.filter((status) => /^4\d\d$/.test(status)),
)

test.each([
  ['docs/guides/retries.md', `| answers ${either}, or only 1xx | retried |`],
  ['docs/guides/retries.md', `| answers 3xx, or 4xx other than ${exceptions} | failed permanently at once`],
  ['docs/guides/retries.md', `A permanent refusal (4xx other than ${exceptions}, 3xx) makes a dead letter`],
  ['docs/guides/webhooks.md', `It retries after ${both}.`],
  ['packages/testing/README.md', `| answers ${either}, or not at all | tried again.`],
])('%s says: %s', (path, sentence) => {
  expect(textOf(path).replaceAll(/\s+/g, ' ')).toContain(sentence)
})

test('the newest section of the changelog names the formats of data that the release reads', () => {
  const { oldest, newest } = OWN_FORMAT
  const section = textOf('CHANGELOG.md')
    .split(/^## /m)
    .find((text) => /^- /m.test(text))
  const named =
    oldest === newest ? `reads and writes format ${newest}` : `reads formats ${oldest} to ${newest}`
  expect(section?.replaceAll(/\s+/g, ' ')).toContain(named)
})
