/** Checks that manifests and imports follow the layers: services → packages → contracts. */
import { builtinModules } from 'node:module'
import { expect, test } from 'vitest'
import { ENGINES, filesMatching, type Manifest, manifests, NODE_MIN, textOf } from './repository.ts'

const all = manifests()
const packages = all.filter(({ folder }) => folder.startsWith('packages/'))
const services = all.filter(({ folder }) => folder.startsWith('services/'))
const serviceNames = new Set(services.map(({ name }) => name))
const REDIS_CLIENTS = ['ioredis', 'bullmq']
/** Packages that may use a Redis client at run time. Tests and their kit may use one too. */
const REDIS_HOLDERS = ['packages/store', 'packages/jobs', 'packages/test-kit', 'tests']

const everything = ({ dependencies, devDependencies }: Manifest) =>
  Object.keys({ ...dependencies, ...devDependencies })

test('packages and services are the ones in the picture', () => {
  expect(packages.map(({ folder }) => folder.slice('packages/'.length))).toEqual(
    [
      'access',
      'aws-wire',
      'cli',
      'client',
      'command-line',
      'config',
      'console',
      'consumer',
      'contracts',
      'delivery',
      'jobs',
      'policy',
      'runtime',
      'store',
      'telemetry',
      'test-kit',
      'testing',
      'vault',
    ].sort(),
  )
  expect(services.map(({ folder }) => folder.slice('services/'.length))).toEqual([
    'delivery-worker',
    'publish-api',
    'redrive',
  ])
})

// The tests of packages run what is packed on the oldest Node that `engines` names, and on the pinned one.
test('every manifest needs the same releases of Node, and documents and the launcher name the oldest', () => {
  const manifestFiles = filesMatching(
    '{package.json,{packages,services,infra,tests,examples}/**/package.json}',
  )
  expect(manifestFiles.length).toBeGreaterThan(25)
  const enginesOf = (path: string) => (JSON.parse(textOf(path)) as { engines?: unknown }).engines
  expect(manifestFiles.map((path) => [path, enginesOf(path)])).toEqual(
    manifestFiles.map((path) => [path, ENGINES]),
  )
  const named = filesMatching('{docs/**/*,packages/*/README}.md').flatMap((path) =>
    [...textOf(path).matchAll(/\bNode\s+([\d.]*\d)\s+(?:or|and)\s+(?:newer|later)/g)].map(([, release]) => [
      path,
      release,
    ]),
  )
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter(([, release]) => release !== NODE_MIN)).toEqual([])
  expect(textOf('infra/bin/fantail.mjs')).toContain(`const NODE_MIN = '${NODE_MIN}'`)
})

test('services and packages use no service', () => {
  for (const manifest of [...packages, ...services])
    expect([manifest.name, everything(manifest).filter((name) => serviceNames.has(name))]).toEqual([
      manifest.name,
      [],
    ])
})

test('contracts uses nothing of ours, and the test kit is for tests only', () => {
  const contracts = packages.find(({ name }) => name === '@fantail/contracts')
  expect(Object.keys(contracts?.dependencies ?? {}).filter((name) => name.startsWith('@fantail/'))).toEqual(
    [],
  )
  const users = [...packages, ...services].filter(({ dependencies }) => '@fantail/test-kit' in dependencies)
  expect(users.map(({ name }) => name)).toEqual([])
})

test('only store and jobs hold a Redis client', () => {
  const holders = all.filter((manifest) => everything(manifest).some((name) => REDIS_CLIENTS.includes(name)))
  expect(holders.map(({ folder }) => folder).filter((folder) => !REDIS_HOLDERS.includes(folder))).toEqual([])
})

test('every import is of a declared dependency, and none reaches into another package', () => {
  for (const { folder, ...manifest } of all.filter(({ folder }) => folder !== 'infra')) {
    const declared = new Set([manifest.name, ...everything({ folder, ...manifest }), 'vitest', 'fast-check'])
    const wrong = filesMatching(`${folder}/**/*.{ts,tsx}`).flatMap((file) =>
      importsOf(file)
        .filter((name) => !declared.has(name))
        .map((name) => `${file}: ${name}`),
    )
    expect(wrong).toEqual([])
  }
})

/**
 * Bare imports by package name, and relative imports that leave the package, unchanged. Tests may start the tools in
 * infra.
 */
function importsOf(file: string): string[] {
  const own = file
    .split('/')
    .slice(0, file.startsWith('tests/') ? 1 : 2)
    .join('/')
  return [
    ...textOf(file).matchAll(/^(?:import|export)\b[^'"`;]*?from '([^']+)'|\bimport\('([^']+)'\)/gm),
  ].flatMap((match) => {
    const name = match[1] ?? match[2] ?? ''
    if (name.startsWith('node:') || builtinModules.includes(name)) return []
    if (!name.startsWith('.'))
      return [
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      ]
    const target = new URL(name, `file:///${file}`).pathname.slice(1)
    const allowed = own === 'tests' ? ['tests/', 'infra/'] : [`${own}/`]
    return allowed.some((folder) => target.startsWith(folder)) ? [] : [name]
  })
}
