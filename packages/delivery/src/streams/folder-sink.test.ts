import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FolderSink } from './folder-sink.ts'

const NOW = Date.UTC(2026, 10, 22, 10)
const record = (id: string) => ({ id, data: Buffer.from(`{"id":"${id}"}\n`), publishedAt: NOW })
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fantail-streams-'))
})
afterAll(() => rm(folder, { recursive: true }))

const put = (...ids: string[]) =>
  new FolderSink({ folder, streamName: 'orders', lingerMs: 0 }).put(ids.map(record), 5_000)

async function files(): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return names.map((name) => relative(folder, name)).toSorted()
}

test('[366][368] a batch is one file of compressed lines, and the same batch again overwrites it', async () => {
  const results = await put('a', 'b')
  const [name = ''] = await files()
  expect(results).toEqual(
    [1, 2].map(() => ({
      kind: 'response',
      statusCode: 200,
      durationMs: expect.any(Number),
      text: JSON.stringify({ name }),
    })),
  )
  expect(name).toMatch(/^2026\/11\/22\/10\/orders-a-[0-9a-f]{12}\.ndjson\.gz$/)
  await put('a', 'b')
  expect(await files()).toEqual([name])
  expect(gunzipSync(await readFile(join(folder, name))).toString()).toBe('{"id":"a"}\n{"id":"b"}\n')
})

test('another batch that begins with the same record overwrites nothing', async () => {
  const before = await files()
  await put('a', 'c')
  expect(await files()).toHaveLength(before.length + 1)
})

test('a folder that is missing is a fault of the settings', async () => {
  const sink = new FolderSink({ folder: join(folder, 'missing'), streamName: 'orders', lingerMs: 0 })
  expect(await sink.put([record('a')], 5_000)).toMatchObject([
    {
      kind: 'misconfigured',
      credential: `folder:${folder}/missing`,
      detail: expect.stringContaining('ENOENT'),
    },
  ])
})

test.skipIf(process.getuid?.() === 0)('a file that cannot be written leaves nothing behind', async () => {
  const hour = join(folder, '2026', '11', '22', '10')
  const before = await files()
  await chmod(hour, 0o500)
  try {
    expect(await put('d')).toMatchObject([{ kind: 'failure', error: 'storage', permanent: false }])
    expect(await files()).toEqual(before)
  } finally {
    await chmod(hour, 0o700)
  }
})
