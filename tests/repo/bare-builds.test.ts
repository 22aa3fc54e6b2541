/**
 * Checks that a build from a bare checkout works: packages are built in order, and a build needs nothing that only
 * tests use.
 */
import { expect, test } from 'vitest'
import { filesMatching, manifests, textOf } from './repository.ts'

interface BuildSettings {
  exclude?: string[]
  references?: { path: string }[]
}

const all = manifests()
const folders = new Map(all.map(({ name, folder }) => [name, folder]))
const projects = filesMatching('{packages,services}/*/tsconfig.json').map((path) => {
  const folder = path.slice(0, -'/tsconfig.json'.length)
  const settings = JSON.parse(textOf(path)) as BuildSettings
  const dependencies = all.find((manifest) => manifest.folder === folder)?.dependencies ?? {}
  const built = Object.keys(dependencies).filter((name) => folders.has(name) && name !== '@fantail/console')
  return { folder, settings, built }
})

test.each(projects)('$folder is built after the packages that it uses', ({ settings, built }) => {
  const referenced = (settings.references ?? []).map(({ path }) => path.replace(/^\.\.\/(\.\.\/)?/, ''))
  const named = referenced.map((path) => (path.includes('/') ? path : `packages/${path}`))
  expect(named.toSorted()).toEqual(built.map((name) => folders.get(name)).toSorted())
})

// The console is bundled, so it contains only the modules that its pages import.
test.each(projects.filter(({ folder }) => folder !== 'packages/console'))(
  'the build of $folder leaves out tests and their fixtures',
  ({ settings }) => {
    expect(settings.exclude).toEqual(expect.arrayContaining(['src/**/*.test.ts', 'src/**/*.fixture.ts']))
  },
)
