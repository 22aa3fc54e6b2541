/** Tests the memory of a worker about broken credentials, on a real Redis. */
import type { AttemptResult } from '@fantail/contracts'
import type { Attempters } from '@fantail/delivery'
import { Credentials } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { CredentialGate } from './credential-gate.ts'

const NAME = 'smtp:mail.example:25'
const PROBE_MS = 60_000
const { redis } = await useRedis()
const credentials = new Credentials(redis)
const REFUSED: AttemptResult = { kind: 'misconfigured', credential: NAME, detail: '535', durationMs: 5 }
const ACCEPTED: AttemptResult = { kind: 'response', statusCode: 250, durationMs: 0 }
let released: string[]
let logged: string[]
beforeEach(async () => {
  released = []
  logged = []
  await redis.flushall()
})

/** `credentialOf`: the same function as in an attempter. */
function gateOf(credentialOf?: () => string) {
  const attempters = { https: { credentialOf } } as unknown as Attempters
  const lanes = { release: async (_: number, id: string) => Boolean(released.push(id)) }
  const note = (_: object, event: string) => void logged.push(event)
  return new CredentialGate({ credentials, attempters, lanes, log: { info: note, warn: note } as never })
}

const subscriber = (id: string) =>
  ({ record: { id, protocol: 'https' }, target: {}, shard: 3 }) as unknown as CompiledSubscription
const [a, b] = [subscriber('a'), subscriber('b')]
const isKnownBroken = () => waitFor(async () => (await credentials.ask(NAME)) !== 'works')

test('nothing is asked of Redis while everything works', () => {
  const gate = gateOf(() => NAME)
  expect([gate.admit(a), gate.isBlocked(a)]).toEqual([undefined, false])
  gate.ended(a, ACCEPTED)
  expect(logged).toEqual([])
})

test('a credential that an attempter names holds up all who share it, else the one whose attempt failed', async () => {
  const [named, learnt] = [gateOf(() => NAME), gateOf()]
  for (const gate of [named, learnt]) gate.ended(a, REFUSED)
  await isKnownBroken()
  const standing = { credential: NAME, waitMs: expect.any(Number) }
  expect([named.admit(a), named.admit(b)]).toEqual([standing, standing])
  expect([learnt.admit(a), learnt.admit(b)]).toEqual([standing, undefined])
  expect([learnt.isBlocked(a), learnt.isBlocked(b)]).toEqual([true, false])
  expect(logged).toEqual(['credential.broken'])
})

test('a worker that knows nothing asks for a blocked lane', async () => {
  await credentials.broke(NAME, '535')
  const wait = await gateOf().admit(b, NAME)
  expect(wait).toEqual({ credential: NAME, waitMs: expect.any(Number) })
  expect(wait?.waitMs).toBeGreaterThan(PROBE_MS - 5_000)
})

test('a response to an attempt that began later shows that it works, and lets the lanes go', async () => {
  const gate = gateOf(() => NAME)
  gate.ended(a, REFUSED)
  gate.admit(b)
  await isKnownBroken()
  gate.ended(a, { ...ACCEPTED, durationMs: 600_000 })
  gate.ended(b, { kind: 'failure', error: 'timeout', detail: '', durationMs: 0, permanent: false })
  expect(gate.isBlocked(a)).toBe(true)
  gate.ended(a, ACCEPTED)
  expect(gate.isBlocked(a)).toBe(false)
  await waitFor(() => logged.includes('credential.works'))
  expect(released.sort()).toEqual(['a', 'b'])
  expect(await credentials.ask(NAME)).toBe('works')
})

test('a lane that is blocked after the news that its credential works is released', async () => {
  const gate = gateOf(() => NAME)
  gate.ended(a, REFUSED)
  gate.blocked(a.shard, a.record.id, NAME)
  expect(released).toEqual([])
  gate.works(NAME)
  expect(released).toEqual(['a'])
  gate.blocked(a.shard, a.record.id, NAME)
  expect(released).toEqual(['a', 'a'])
})

test('the news that it works lets the lanes of this worker go', async () => {
  const gate = gateOf(() => NAME)
  gate.ended(a, REFUSED)
  gate.works('another')
  expect(gate.isBlocked(a)).toBe(true)
  gate.works(NAME)
  expect([gate.isBlocked(a), gate.admit(a), released]).toEqual([false, undefined, ['a']])
})
