/** The places of archives: a folder, and a bucket that a receiver stands for. */
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { actAsBucket, type Receiver, startReceiver } from '@fantail/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBlockStore } from './block-stores.ts'

const NAME = 'orders.fifo-u1/2026-11-27/1-2.ndjson.zst'
const OTHER = 'orders.fifo-u1/2026-11-27/2-3.ndjson.zst'
const DATA = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n % 251))
let folder: string
let bucket: Receiver

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fantail-archive-'))
  bucket = await startReceiver()
  actAsBucket(bucket)
})
afterAll(async () => {
  await rm(folder, { recursive: true })
  await bucket.close()
})

const clock = () => Date.UTC(2026, 10, 27)
const open = {
  folder: () => openBlockStore({ url: pathToFileURL(folder).href, clock }),
  bucket: () =>
    openBlockStore({
      url: `s3+http://AKID:s%2Fcret@127.0.0.1:${bucket.port}/bucket/raw?region=eu-west-1`,
      clock,
    }),
}

describe.each(['folder', 'bucket'] as const)('a %s', (kind) => {
  test('gives back the bytes that were put last, until they are removed', async () => {
    const store = open[kind]()
    expect(await store.get(NAME)).toBe(null)
    await store.put(NAME, Buffer.from('first'))
    await store.put(NAME, DATA)
    await store.put(OTHER, Buffer.from('other'))
    expect(await store.get(NAME)).toEqual(DATA)
    await store.remove(NAME)
    await store.remove(NAME)
    expect([await store.get(NAME), String(await store.get(OTHER))]).toEqual([null, 'other'])
    await store.remove(OTHER)
    await store.close()
  })
})

test('a folder that does not exist is an error, and not a folder without blocks', async () => {
  const store = open.folder()
  await rename(folder, `${folder}-away`)
  try {
    for (const call of [() => store.get(NAME), () => store.put(NAME, DATA), () => store.remove(NAME)])
      await expect(call()).rejects.toThrow('ENOENT')
  } finally {
    await rename(`${folder}-away`, folder)
  }
  expect(await readdir(folder)).toEqual([])
})

test('requests to a bucket are signed, and a refusal names the object and the code', async () => {
  const store = open.bucket()
  await store.put(NAME, DATA)
  const [request] = bucket.requests.slice(-1)
  expect(request?.path).toBe(`/bucket/raw/${NAME}`)
  expect(request?.headers.authorization).toContain('Credential=AKID/20261127/eu-west-1/s3/aws4_request')
  bucket.respond(() => true, { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' })
  for (const call of [() => store.get(NAME), () => store.put(NAME, DATA), () => store.remove(NAME)])
    await expect(call()).rejects.toThrow(`the bucket answered 403 AccessDenied for the object ${NAME}`)
  await store.close()
})

test('a bucket without credentials cannot be opened', () => {
  expect(() => openBlockStore({ url: 's3://bucket/archive', clock })).toThrow(
    'AWS credentials for the bucket of archives are not set',
  )
})
