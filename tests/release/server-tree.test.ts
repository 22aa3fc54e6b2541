/** A server tree in an empty folder: no npm, no packages, no PATH. The bytes of a release are tested by `--check`. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliverOne } from '../../infra/release/checks/delivery.mjs'
import { entriesOf, writeTarball } from '../../infra/release/tar-archive.mjs'
import { serverTree } from '../harness/services/server-tree.ts'

const { server } = await useRedis({ appendfsync: 'always' })
let work: string
/** The folder that the tarball was unpacked to. */
let home: string

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'fantail-server-'))
  await writeTarball(join(work, 'server.tar.gz'), entriesOf(serverTree(), 'fantail'), 0)
  execFileSync('tar', ['-xzf', join(work, 'server.tar.gz'), '-C', work])
  home = join(work, 'fantail')
  // Node is 120 MB, and this one is what the release contains.
  await symlink(process.execPath, join(home, 'bin/node'))
}, 180_000)

afterAll(() => rm(work, { recursive: true }))

test('delivers a message, and serves the console and the documentation', async () => {
  await deliverOne({ command: [join(home, 'bin/fantail')], env: { PATH: '', HOME: work } }, server.url)
}, 120_000)

test('names every package of others, with its licence, in notices and bill of materials', async () => {
  const notices = await readFile(join(home, 'server/THIRD-PARTY-LICENSES.txt'), 'utf8')
  const named = Array.from(notices.matchAll(/^={80}\n(\S+) (\S+) \((.+)\)$/gm), ([, name, version]) => ({
    name,
    version,
  }))
  const { components } = JSON.parse(await readFile(join(home, 'sbom.cdx.json'), 'utf8'))
  const [node, ...libraries] = components
  expect(node).toMatchObject({ name: 'node', version: process.versions.node })
  expect(libraries.map(({ name, version }: typeof node) => ({ name, version }))).toEqual(named)
  // One of the services, of the console, of the documentation.
  const names = named.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['bullmq', 'react', '@scalar/api-reference']))
})

test('starts its services without fetch, and scrapes without the SDK', async () => {
  const texts = new Map<string, string>()
  for (const name of await readdir(join(home, 'server')))
    if (name.endsWith('.mjs')) texts.set(name, await readFile(join(home, 'server', name), 'utf8'))
  const files = (pattern: RegExp) => [...texts].filter(([, text]) => pattern.test(text)).map(([name]) => name)
  expect(files(/from\s*["'](node:)?http["']/), 'loads what Node has of fetch').toEqual([])
  expect(files(/SnapshotAgent/), "has more of undici than the worker's client").toEqual([])
  const [scrapes] = files(/class PrometheusExporter/)
  const imports = texts.get(scrapes ?? '')?.matchAll(/(?:from|import)\s*"\.\/([a-z-]+)-[\w-]{8}\.mjs"/g) ?? []
  expect(Array.from(imports, ([, name]) => name).toSorted()).toEqual(['rolldown-runtime', 'telemetry'])
})

test('names no path of the machine that made it', async () => {
  const files = await readdir(home, { recursive: true, withFileTypes: true })
  const texts = files.filter((file) => file.isFile() && /\.(mjs|js|json|html|css|txt)$/.test(file.name))
  expect(texts.length).toBeGreaterThan(50)
  for (const file of texts) {
    const path = join(file.parentPath, file.name)
    expect([path, (await readFile(path, 'utf8')).includes(process.cwd())]).toEqual([path, false])
  }
})
