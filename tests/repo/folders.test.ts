/** Checks folders and names of files: folders have few entries, names are unique, and names show fixtures. */
import { basename, dirname } from 'node:path'
import { expect, test } from 'vitest'
import { filesMatching, textOf } from './repository.ts'

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
    lua.filter((path) => !/^packages\/store\/src\/[a-z/]+\/lua\/(include\/)?[a-z0-9-]+\.lua$/.test(path)),
  ).toEqual([])
})
