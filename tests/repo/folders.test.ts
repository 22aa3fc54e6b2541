/**
 * Checks folders and names of files: a folder uses only folders below it and has few entries, names are unique, and
 * names show fixtures.
 */
import { basename, dirname } from 'node:path'
import { expect, test } from 'vitest'
import { filesMatching, importsOf, manifests, textOf } from './repository.ts'

const FILES_MAX = 15
/** Names that many folders have: the exports of a folder, and the entry of a process. */
const ONE_PER_FOLDER = new Set(['index.ts', 'main.ts'])
const files = filesMatching('{packages,services,infra,tests}/**/*.{ts,tsx,mjs,lua,py}')

function kindOf(path: string): 'tests' | 'fixtures' | 'sources' {
  if (path.endsWith('.test.ts')) return 'tests'
  return path.endsWith('.fixture.ts') ? 'fixtures' : 'sources'
}

test('no folder holds more than 15 sources, 15 tests or 15 fixtures', () => {
  const groups = Map.groupBy(files, (path) => `${kindOf(path)} in ${dirname(path)}`)
  const large = [...groups].filter(([, paths]) => paths.length > FILES_MAX)
  expect(large.map(([group, paths]) => `${paths.length} ${group}`)).toEqual([])
})

test('no two files share a name', () => {
  const byName = Map.groupBy(files, (path) => basename(path))
  const shared = [...byName].filter(([name, paths]) => paths.length > 1 && !ONE_PER_FOLDER.has(name))
  expect(shared.map(([, paths]) => paths)).toEqual([])
})

test('a file that only tests use is named a fixture', () => {
  const isOfTests = (path: string) =>
    /^import\b[^;]*?from '(vitest|@fantail\/test-kit[^']*)'$/m.test(textOf(path))
  const sources = filesMatching('{packages,services}/*/src/**/*.ts').filter(
    (path) => kindOf(path) === 'sources' && !/^packages\/(test-kit|testing)\//.test(path),
  )
  expect(sources.filter(isOfTests)).toEqual([])
  expect(files.filter((path) => /fixture/.test(basename(path)) && kindOf(path) !== 'fixtures')).toEqual([])
})

test('a script and its includes lie in the folder `lua` of the sources that they belong to', () => {
  const lua = filesMatching('packages/**/*.lua')
  expect(
    lua.filter((path) => !/^packages\/store\/src\/[a-z/-]+\/lua\/(include\/)?[a-z0-9-]+\.lua$/.test(path)),
  ).toEqual([])
})

type Pair = [from: string, to: string]
const nameOf = (pair: Pair) => pair.join(' -> ')

test('a folder uses only folders below it, types and includes of scripts included', () => {
  const found = manifests().flatMap(({ folder }) => {
    const closing = closingImports(importsWithin(`${folder}/src/`))
    return closing.map((pair) => `${folder}: ${nameOf(pair)} closes a circle of folders`)
  })
  expect(found).toEqual([])
})

test('the check of layers names the import that closes a circle of folders', () => {
  const clean: Pair[] = [
    ['main.ts', 'roof/tiles.ts'],
    ['roof/tiles.ts', 'walls/bricks.ts'],
    ['roof/gutter.ts', 'walls/bricks.ts'],
    ['walls/bricks.ts', 'walls/stones/granite.ts'],
    ['walls/doors.ts', 'walls/stones/granite.ts'],
  ]
  expect(closingImports(clean)).toEqual([])
  const planted: Pair = ['walls/stones/granite.ts', 'roof/tiles.ts']
  expect(closingImports([planted, ...clean])).toEqual([planted])
  const below: Pair = ['walls/bricks.ts', 'roof/beams/oak.ts']
  expect(closingImports([...clean, below])).toEqual([below])
})

test('the check of layers reads what scripts include, as parts of the folder that has their `lua`', () => {
  const read = new Set(importsWithin('packages/store/src/').map(nameOf))
  expect(read).toContain('queues/receive-messages-1.lua -> queues/items/queue.lua')
  expect(read).toContain('lanes/records/lane-whole.lua -> lanes/records/lane-try.lua')
  expect([...read].filter((name) => name.includes('.lua -> ')).length).toBeGreaterThan(300)
  const planted: Pair = ['redis/now.lua', 'lanes/records/lane-next.lua']
  expect(closingImports([...importsWithin('packages/store/src/'), planted])).toEqual([planted])
})

const FACES = /^(rest|aws|portal|console|openapi)\//

test('no face of the API uses another face: what several of them need is a resource below', () => {
  const found = importsWithin('services/publish-api/src/').filter(([from, to]) => {
    const [own, other] = [FACES.exec(from)?.[1], FACES.exec(to)?.[1]]
    return own !== undefined && other !== undefined && own !== other
  })
  expect(found.map(nameOf)).toEqual([])
})

/** The two folders side by side that hold the files. A file that lies beside a folder stands for their parent. */
function foldersOf([from, to]: Pair): Pair {
  const shared = from.split('/').findIndex((part, at) => part !== to.split('/')[at])
  const folderOf = (path: string) =>
    dirname(path)
      .split('/')
      .slice(0, shared + 1)
      .join('/')
  return [folderOf(from), folderOf(to)]
}

/**
 * Imports between the sources of a package, and includes between its scripts, as paths below `src`. The index only
 * hands on names, so it is left out. A script counts as a file of the folder that its `lua` lies in.
 */
function importsWithin(src: string): Pair[] {
  return [...importsOfSources(src), ...includesOfScripts(src)]
}

function includesOfScripts(src: string): Pair[] {
  const scripts = filesMatching(`${src}**/*.lua`)
  const placeOf = (path: string) => path.slice(src.length).replace(/(^|\/)lua\/(include\/)?/, '$1')
  const places = new Map(scripts.map((path) => [basename(path, '.lua'), placeOf(path)]))
  return scripts.flatMap((path) =>
    [...textOf(path).matchAll(/^-- @include ([a-z-]+)$/gm)].map(([, name = '']): Pair => {
      return [placeOf(path), places.get(name) ?? name]
    }),
  )
}

function importsOfSources(src: string): Pair[] {
  const sources = filesMatching(`${src}**/*.{ts,tsx}`).filter(
    (path) => kindOf(path) === 'sources' && path !== `${src}index.ts`,
  )
  return sources.flatMap((path) =>
    importsOf(path)
      .flatMap(({ file }) => (file?.startsWith(src) && /\.tsx?$/.test(file) ? file : []))
      .map((file): Pair => [path.slice(src.length), file.slice(src.length)]),
  )
}

/**
 * Puts one pair of folders after the other into a graph, the pair with the most imports first. A pair that would close
 * a circle stays out, and its imports are the result.
 */
function closingImports(imports: Pair[]): Pair[] {
  const byFolders = Map.groupBy(imports, (pair) => nameOf(foldersOf(pair)))
  const used = new Map<string, string[]>()
  const reaches = (from: string, to: string): boolean =>
    from === to || (used.get(from) ?? []).some((next) => reaches(next, to))
  const ordered = [...byFolders.values()].toSorted((a, b) => b.length - a.length)
  return ordered.flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const [from, to] = foldersOf(first)
    if (from === to) return []
    if (reaches(to, from)) return [first, ...others]
    used.set(from, [...(used.get(from) ?? []), to])
    return []
  })
}
