import { createLogger } from '@fantail/runtime'
import {
  connect,
  MasterKeyError,
  type Redis,
  TravelledDataError,
  VaultKeys,
  whenReady,
  whenServerChecked,
} from '@fantail/store'
import { startRedis, type TestRedis, waitFor } from '@fantail/test-kit'
import { createVault, parseMasterKey, type Vault } from '@fantail/vault'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkStart } from './start-checks.ts'

let server: TestRedis
let redis: Redis
let lines: { level: string; msg: string; detail?: string }[]
let failures: unknown[]

beforeEach(async () => {
  server = await startRedis({ appendfsync: 'always' })
  redis = connect({ url: server.url, name: 'test' })
  await whenReady(redis)
  lines = []
  failures = []
})

afterEach(async () => {
  redis.disconnect()
  await server.stop()
})

const log = createLogger({
  service: 'test',
  destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
})
const check = (vault: Vault, joinTravel = async () => {}) =>
  checkStart({
    connections: { redis, whenChecked: () => whenServerChecked({ redis, target: server.url }) },
    vault,
    checkMasterKey: true,
    checkData: async () => undefined,
    joinTravel,
    log,
    fail: (error) => failures.push(error),
  })

function vaultOf(digit: string): Vault {
  const key = parseMasterKey(digit.repeat(64))
  if (!key) throw new Error('no key')
  return createVault([key])
}

test('a key that secrets are not sealed with is refused, and the own one noted', async () => {
  await check(vaultOf('0'))
  expect(await new VaultKeys(redis).all()).toEqual([vaultOf('0').keyId])
  await expect(check(vaultOf('1'))).rejects.toBeInstanceOf(MasterKeyError)
  expect([lines, failures]).toEqual([[], []])
})

test('keys of another type in Redis are noted again and end no start', async () => {
  await redis.set('ft:{vault}:keys', 'x')
  await check(vaultOf('0'))
  expect(await new VaultKeys(redis).all()).toEqual([vaultOf('0').keyId])
  expect([lines, failures]).toEqual([[], []])
})

test('data whose time may be moved ends the start', async () => {
  const refuse = () => Promise.reject(new TravelledDataError('not for this process'))
  await expect(check(vaultOf('0'), refuse)).rejects.toThrow('not for this process')
  expect([lines, failures]).toEqual([[], []])
})

test('a Redis that is away is reported once, until it answers', async () => {
  await check(vaultOf('0'))
  await server.kill()
  await waitFor(() => redis.status !== 'ready')
  await Promise.all([check(vaultOf('0')), check(vaultOf('1'))])
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    ['warn', 'redis.awaited'],
    ['warn', 'redis.awaited'],
  ])
  expect(lines[0]?.detail).toContain('Redis does not answer')
  expect(failures).toEqual([])
  await server.restart()
  await waitFor(() => failures.length > 0, { what: 'the wrong key to be told' })
  expect(failures).toEqual([expect.any(MasterKeyError)])
})
