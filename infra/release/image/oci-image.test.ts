import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { arArchive } from '../debian/ar-archive.mjs'
import { tarChunks } from '../tar-archive.mjs'
import { membersOf, tarEntries } from './archive-reading.mjs'
import { createOciLayout } from './oci-image.mjs'

const MTIME = 1_700_000_000
const work = mkdtempSync(join(tmpdir(), 'fantail-oci-'))

afterAll(() => rmSync(work, { recursive: true }))

function layoutIn(name: string): Buffer {
  const tree = join(work, name)
  mkdirSync(join(tree, 'bin'), { recursive: true })
  writeFileSync(join(tree, 'bin/node'), 'node', { mode: 0o755 })
  const libraries = [{ name: 'lib/libc.so.6', content: 'libc', mode: 0o755 }]
  const layout = createOciLayout({ version: '1.2.3', commit: 'abc', mtime: MTIME })
  for (const arch of ['amd64', 'arm64']) layout.addImage({ tree, arch, libraries })
  mkdirSync(join(tree, 'out'))
  return readFileSync(layout.write(join(tree, 'out')))
}

test('two image layouts of the same files are the same bytes', () => {
  expect(layoutIn('first').equals(layoutIn('second'))).toBe(true)
})

test('an image has layers that its configuration names, a user without rights, and a health check', () => {
  const files = new Map(tarEntries(layoutIn('read')).map(({ name, content = '' }) => [name, content]))
  const blob = (digest: string) => Buffer.from(files.get(`blobs/${digest.replace(':', '/')}`) ?? '')
  const parse = (digest: string) => JSON.parse(String(blob(digest)))
  const [tagged] = JSON.parse(String(files.get('index.json'))).manifests
  expect(tagged.annotations).toEqual({ 'org.opencontainers.image.ref.name': '1.2.3' })
  const images = parse(tagged.digest).manifests
  expect(images.map(({ platform }: { platform: object }) => platform)).toEqual([
    { architecture: 'amd64', os: 'linux' },
    { architecture: 'arm64', os: 'linux' },
  ])
  const { config, layers } = parse(images[0].digest)
  const { config: settings, rootfs } = parse(config.digest)
  expect(settings.User).toBe('999:999')
  expect(settings.Healthcheck.Test.slice(0, 3)).toEqual(['CMD', '/opt/fantail/bin/node', '-e'])
  const tars = layers.map(({ digest }: { digest: string }) => gunzipSync(blob(digest)))
  const digests = tars.map((tar: Buffer) => `sha256:${createHash('sha256').update(tar).digest('hex')}`)
  expect(rootfs.diff_ids).toEqual(digests)
  const names = tars.flatMap((tar: Buffer) => tarEntries(tar).map(({ name }) => name))
  expect(names).toEqual(expect.arrayContaining(['etc/passwd', 'lib/libc.so.6', 'opt/fantail/bin/node']))
})

test('archives are read as they were written', () => {
  const entries = [
    { name: 'a', content: Buffer.from('odd'), mode: 0o755 },
    { name: 'b', link: 'a' },
  ]
  const data = Buffer.concat([...tarChunks([...entries, { name: 'folder' }], MTIME)])
  const members = membersOf(
    arArchive(
      [
        { name: 'x', content: Buffer.from('odd') },
        { name: 'data.tar', content: data },
      ],
      0,
    ),
  )
  expect([...members.keys()]).toEqual(['x', 'data.tar'])
  expect(tarEntries(members.get('data.tar') ?? Buffer.alloc(0))).toEqual(entries)
})
