/** Commands of `fantail` that talk to Redis instead of the API, and the services, as processes. */
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createMessageId, type Message } from '@fantail/contracts'
import { dataFormatKey, messageBody, messageKey, shardBase, shardOf, Topics } from '@fantail/store'
import { freePort, redisServerPath, waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { runFantail } from '../harness/services/run-fantail.ts'
import { filesMatching, textOf } from '../repo/repository.ts'

const { server, redis } = await useRedis()
const other = await useRedis()
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
const MESSAGE: Message = {
  messageId: createMessageId(0),
  topicArn: TOPIC,
  message: 'hello',
  publishedAt: 0,
}
/** The format of data that a newer release has made. */
const NEWER = '{"format":2,"capabilities":{},"pending":{}}'
/** The folder of `redis-server` is on PATH. */
const TOOLS = [dirname(redisServerPath()), process.env.PATH].join(delimiter)

function fantail(line: string, env: Record<string, string> = {}) {
  return runFantail(line.split(' '), { env: { REDIS_URL: server.url, FANTAIL_MODE: 'local', ...env } })
}

test('API keys are made, listed and revoked in Redis', async () => {
  const made = await fantail('keys create --name ops --scope read --quiet')
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^ft_FK[\w-]+\n$/)])
  const listed = await fantail('keys list')
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/^FK\w+ .* read .* ops\n$/)])
  const [id = ''] = listed.stdout.split(' ')
  expect(await fantail(`keys revoke ${id}`)).toMatchObject({ code: 0, stdout: `key ${id} is revoked\n` })
  expect(await fantail(`keys revoke ${id}`)).toMatchObject({
    code: 3,
    stderr: `fantail keys: key ${id} does not exist\n`,
  })
  const json = async (line: string) => JSON.parse((await fantail(`${line} --json`)).stdout)
  const { token, ...key } = await json('keys create --name shop --scope publish')
  expect(token).toMatch(/^ft_FK/)
  expect(await json('keys list')).toEqual(key)
  expect(await json(`keys revoke ${key.id}`)).toEqual({ deleted: key.id })
  expect((await fantail('keys list --jsonl')).code).toBe(2)
})

test('the command that a refusal prints makes a key as it stands, and no source prints it without flags', async () => {
  const refused = await fantail('api', { FANTAIL_MODE: 'server', FANTAIL_AUTH: 'off' })
  const [, command = ''] = /`fantail (keys create[^`]*)`/.exec(refused.stdout + refused.stderr) ?? []
  expect(await fantail(command)).toMatchObject({ code: 0, stdout: expect.stringContaining('Bearer ft_') })
  const sources = filesMatching('{packages,services,infra}/**/*.{ts,tsx,mjs}')
  const bare = sources.filter(
    (path) => !path.endsWith('.test.ts') && /fantail keys create\\?[`']/.test(textOf(path)),
  )
  // Descriptions of settings name the command beside the page about keys.
  expect(bare).toEqual(['packages/config/src/tables.ts'])
})

test('secrets are sealed again with a master key, and with none the command says so', async () => {
  const sealed = await fantail('secrets reseal', { FANTAIL_MASTER_KEY: '0'.repeat(64) })
  expect(sealed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0 secrets, 0 sealed again/) })
  expect((await fantail('secrets')).code).toBe(2)
  const { stdout: key } = await fantail('secrets create')
  expect(Buffer.from(key.trim(), 'base64')).toHaveLength(32)
  const reported = await fantail('secrets report', { FANTAIL_MASTER_KEY: key.trim() })
  expect(reported.stdout).toMatch(
    /^key [0-9a-f]{8} seals; has sealed: secrets 0, texts of messages in Redis 0, in archives 0\n/,
  )
  const refused = await fantail('secrets wrap vault:transit', { FANTAIL_MASTER_KEY: key.trim() })
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('as in vault:transit/fantail')])
})

test.each<[string, number, Record<string, string>?]>([
  ['keys create --name ops --scope read', 1],
  ['secrets reseal', 1, { FANTAIL_MASTER_KEY: '0'.repeat(64) }],
  ['move --from redis://127.0.0.1:1/0', 1],
  ['worker', 78, { FANTAIL_OPS_PORT: '0' }],
  ['all --workers 1', 78, { FANTAIL_PORT: '0' }],
])('`fantail %s` leaves data alone that a newer release has made', async (line, exit, env) => {
  await redis.set(dataFormatKey(), NEWER)
  const source = line.replace('redis://127.0.0.1:1/0', server.url)
  const to: Record<string, string> = line.startsWith('move') ? { REDIS_URL: other.server.url } : {}
  const { code, stdout, stderr } = await fantail(source, { ...env, ...to })
  expect([code, stdout + stderr]).toEqual([exit, expect.stringContaining('have format 2, and this release')])
  expect([await redis.get(dataFormatKey()), await other.redis.dbsize()]).toEqual([NEWER, 0])
  await redis.del(dataFormatKey())
})

test('`fantail move` refuses a target that a newer release has used, and copies the format', async () => {
  const move = () => fantail(`move --from ${server.url}`, { REDIS_URL: other.server.url })
  const own = '{"format":1,"capabilities":{},"pending":{}}'
  await redis.set(dataFormatKey(), own)
  await other.redis.set(dataFormatKey(), NEWER)
  expect(await move()).toMatchObject({ code: 1, stderr: expect.stringContaining('have format 2, and this') })
  expect(await other.redis.get(dataFormatKey())).toBe(NEWER)
  await other.redis.flushall()
  expect(await move()).toMatchObject({ code: 0, stdout: expect.stringContaining('moved ') })
  expect(await other.redis.get(dataFormatKey())).toBe(own)
  await redis.del(dataFormatKey())
})

describe('fantail drill', () => {
  let folder: string
  let snapshot: string
  const drill = (path: string, env = {}) => fantail(`drill ${path}`, { PATH: TOOLS, TMPDIR: folder, ...env })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fantail-drills-'))
    snapshot = join(folder, 'fantail.rdb')
    const body = messageBody(MESSAGE)
    await new Topics(redis).put(TOPIC, {})
    await redis.hset(messageKey(shardBase(shardOf(TOPIC)), Buffer.alloc(16, 1)), { b: body, n: '1' })
    await redis.save()
    const [, data = ''] = (await redis.config('GET', 'dir')) as string[]
    await copyFile(join(data, 'dump.rdb'), snapshot)
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('a snapshot is restored, checked, compared with the running Redis, and removed', async () => {
    const { code, stdout, stderr } = await drill(snapshot)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^topics +1 +1$/m)
    expect(stdout).toMatch(/restored in [\d.]+ s; \d+ messages and records are whole/)
    const alone = await drill(snapshot, { REDIS_URL: `redis://127.0.0.1:${await freePort()}` })
    expect([alone.code, alone.stderr]).toEqual([0, expect.stringContaining('nothing to compare with')])
    expect(await readdir(folder)).toEqual(['fantail.rdb'])
  })

  test('a cut or changed snapshot is refused with the words of Redis', async () => {
    const bytes = await readFile(snapshot)
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1)
    for (const damaged of [bytes.subarray(0, -40), changed]) {
      const path = join(folder, 'damaged.rdb')
      await writeFile(path, damaged)
      expect(await drill(path)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('Redis cannot read it: '),
      })
    }
    // A changed snapshot may crash Redis.
    const bin = join(folder, 'bin')
    await mkdir(bin)
    await writeFile(join(bin, 'redis-server'), '#!/bin/sh\nkill -SEGV $$\n', { mode: 0o755 })
    expect(await drill(snapshot, { PATH: [bin, TOOLS].join(delimiter) })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Redis cannot read it: '),
    })
    await rm(bin, { recursive: true })
    expect(await drill(join(folder, 'none'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ENOENT'),
    })
    expect((await fantail('drill')).code).toBe(2)
    expect((await readdir(folder)).toSorted()).toEqual(['damaged.rdb', 'fantail.rdb'])
  })

  test('a changed message names its key, also as a copy of the folder', async () => {
    const key = messageKey(shardBase(shardOf(TOPIC)), Buffer.alloc(16, 1))
    const body = (await redis.hget(key, 'b')) ?? ''
    await redis.hset(key, 'b', body.replace('hello', 'jello'))
    await redis.config('SET', 'appendonly', 'yes')
    const [, data = ''] = (await redis.config('GET', 'dir')) as string[]
    await waitFor(async () => /aof_rewrite_in_progress:0/.test(await redis.info('persistence')))
    const copy = join(folder, 'copy')
    await cp(data, copy, { recursive: true })
    const { code, stderr } = await drill(copy)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/:msg:.*checksum differs[\s\S]*1 of \d+ texts are damaged/),
    ])
  })

  test('a snapshot of a newer release is refused', async () => {
    const [, data = ''] = (await redis.config('GET', 'dir')) as string[]
    await redis.set(dataFormatKey(), NEWER)
    await redis.save()
    await redis.del(dataFormatKey())
    expect(await drill(join(data, 'dump.rdb'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('have format 2, and this release reads format 1'),
    })
  })
})

test.each(['api', 'worker', 'redrive', 'all'])(
  '`fantail %s` names a setting that is wrong',
  async (service) => {
    const { code, stdout, stderr } = await fantail(service, { FANTAIL_LOG_LEVEL: 'nonsense' })
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('FANTAIL_LOG_LEVEL')])
  },
)

provesCommands('tests/cli/redis-commands.test.ts')
