/**
 * Checks that files export only what others import, that indexes list names, and that no files import each other in a
 * circle.
 */
import { expect, test } from 'vitest'
import { filesMatching, importsOf, manifests, textOf } from './repository.ts'

const sources = filesMatching('{*,{packages,services,infra,tests}/**/*}.{ts,tsx,mjs}')
const indexes = filesMatching('{packages,services}/*/src/index.ts')

const imports = new Map(sources.map((path) => [path, importsOf(path)]))

test('every index names what it exports', () => {
  expect(indexes.length).toBeGreaterThan(10)
  expect(indexes.filter((path) => /^export (type )?\*/m.test(textOf(path)))).toEqual([])
})

test('the index of contracts lists no schemas: each is imported from its own file', () => {
  const exported = importsOf('packages/contracts/src/index.ts').map(({ file }) => file)
  expect(exported.length).toBeGreaterThan(10)
  expect(exported.filter((file) => file?.startsWith('packages/contracts/src/schemas/'))).toEqual([])
})

/** Indexes of published packages are for other programs. */
const ownIndexes = indexes.filter((path) =>
  manifests().some((manifest) => manifest.private && path.startsWith(`${manifest.folder}/`)),
)

test.each(ownIndexes)('every export of %s is imported elsewhere', (index) => {
  const own = index.slice(0, index.indexOf('/src/') + 1)
  const users = sources.filter((path) => !path.startsWith(own))
  const used = new Set(
    users.flatMap(
      (path) => imports.get(path)?.flatMap(({ file, names }) => (file === index ? names : [])) ?? [],
    ),
  )
  const exported = importsOf(index).flatMap(({ names }) => names)
  expect(exported.length).toBeGreaterThan(0)
  expect(exported.filter((name) => !used.has(name))).toEqual([])
})

const EXPORT =
  /^export (?:abstract |async )*(?:interface|type|class|const|let|function\*?) ([A-Za-z_$][\w$]*)/gm

/** Text of code that a script writes but does not run. */
const TEMPLATE = /`(?:[^`\\]|\\.)*`/gs

/** No file names these types, but declarations of exported values do. */
const NAMED_BY_DECLARATIONS = new Set(['packages/config/src/redis-settings.ts: RedisNodes'])

test('every export of a file is imported by another file', () => {
  const used = Map.groupBy([...imports.values()].flat(), ({ file }) => file)
  const found = sources.flatMap((path) => {
    const uses = used.get(path) ?? []
    if (indexes.includes(path) || uses.some(({ isWhole }) => isWhole)) return []
    const names = new Set(uses.flatMap((use) => use.names))
    const code = textOf(path).replaceAll(TEMPLATE, '')
    const exported = [...code.matchAll(EXPORT)].map(([, name = '']) => name)
    return exported.filter((name) => !names.has(name)).map((name) => `${path}: ${name}`)
  })
  expect(found.filter((line) => !NAMED_BY_DECLARATIONS.has(line))).toEqual([])
  expect(found.length).toBe(NAMED_BY_DECLARATIONS.size)
})

test('no files import each other in a circle', () => {
  const files = (path: string) => imports.get(path)?.flatMap(({ file }) => file ?? []) ?? []
  let rest = new Set(sources)
  for (let before = 0; before !== rest.size; ) {
    before = rest.size
    // A file is on no circle if it imports none of the rest, or if none of the rest imports it.
    const imported = new Set([...rest].flatMap(files))
    rest = new Set(
      [...rest].filter((path) => imported.has(path) && files(path).some((file) => rest.has(file))),
    )
  }
  expect([...rest].map((path) => [path, files(path).filter((file) => rest.has(file))])).toEqual([])
})
