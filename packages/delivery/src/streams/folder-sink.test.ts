import { execFileSync } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { chmod, mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises'
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

test('only the user of the process can read files and their folders', async () => {
  const [name = ''] = await files()
  const paths = name.split('/').map((_, depth, parts) => join(folder, ...parts.slice(0, depth + 1)))
  const modes = await Promise.all(paths.map(async (path) => ((await stat(path)).mode & 0o777).toString(8)))
  expect(modes).toEqual(['700', '700', '700', '700', '600'])
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

test('folders that hang leave threads to name look-ups, and one of them leaves writes to other folders', async () => {
  // To open a named pipe without a writer blocks a thread of libuv, as a file system that hangs does.
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const write = async () => (await open(pipe, 'r')).close()
  const hung = await mkdtemp(join(tmpdir(), 'fantail-hung-'))
  const sink = new FolderSink({ folder: hung, streamName: 'hung', lingerMs: 0, write })
  try {
    const results = await Promise.all(Array.from({ length: 12 }, () => sink.put([record('h')], 200)))
    const errors = results.flat().map((result) => (result.kind === 'failure' ? result.error : result.kind))
    expect(errors).toEqual(['timeout', ...Array(11).fill('service_limit')])
    expect(await put('e')).toMatchObject([{ kind: 'response', statusCode: 200 }])
    expect((await lookup('localhost')).address).toBeTruthy()
  } finally {
    // This opens the pipe for both directions, which ends the hung write.
    const writer = await open(pipe, 'r+')
    await expect.poll(() => sink.put([record('h')], 200)).toMatchObject([{ statusCode: 200 }])
    await writer.close()
    await rm(hung, { recursive: true })
    await rm(pipe)
  }
})
