import { keyOf } from '@fantail/access'
import { FantailError } from '@fantail/contracts'
import type { TokensAsked, TokensGiven } from '@fantail/store'
import { beforeEach, expect, test } from 'vitest'
import { RateLimits } from './rate-limits.ts'

let now: number
let asked: TokensAsked[]
let give: (wanted: number) => TokensGiven | Error
let limits: RateLimits

beforeEach(() => {
  now = 0
  asked = []
  give = (wanted) => ({ given: wanted, nextInMs: 0 })
  limits = new RateLimits({
    now: () => now,
    limits: {
      take: async (tokens) => {
        asked.push(tokens)
        const answer = give(tokens.wanted)
        if (answer instanceof Error) throw answer
        return answer
      },
    },
  })
})

function keyAt(maxRequestsPerSecond: number | null) {
  const record = { id: 'FKX', kind: 'native', account: '0' } as const
  return keyOf({ ...record, scopes: [], prefixes: [], maxRequestsPerSecond })
}

async function outcomes(requests: number, rate: number): Promise<{ served: number; refused: number }> {
  const key = keyAt(rate)
  const all = Array.from({ length: requests }, async () => limits.admit(key))
  const settled = await Promise.allSettled(all)
  const served = settled.filter(({ status }) => status === 'fulfilled').length
  return { served, refused: requests - served }
}

test('anonymous callers and keys without a limit cost no round trip', () => {
  expect([limits.admit(null), limits.admit(keyAt(null))]).toEqual([undefined, undefined])
  expect(asked).toEqual([])
})

test('one question serves 50 ms of requests, and all that wait share it', async () => {
  expect(await outcomes(100, 2_000)).toEqual({ served: 100, refused: 0 })
  expect(asked).toEqual([{ keyId: 'FKX', ratePerSecond: 2_000, wanted: 100 }])
  await outcomes(1, 2_000)
  expect(asked).toHaveLength(2)
  // 99 tokens are left, so these requests do not ask Redis.
  for (let i = 0; i < 99; i++) expect(limits.admit(keyAt(2_000))).toBeUndefined()
  expect(asked).toHaveLength(2)
})

test('a request without a token is refused without a round trip until the bucket has some again', async () => {
  give = () => ({ given: 3, nextInMs: 400 })
  expect(await outcomes(10, 10)).toEqual({ served: 3, refused: 7 })
  expect(asked).toHaveLength(1)
  now = 399
  expect(() => limits.admit(keyAt(10))).toThrow(FantailError)
  expect(asked).toHaveLength(1)
  now = 400
  await limits.admit(keyAt(10))
  expect(asked).toHaveLength(2)
})

test('a refusal says when to come again, in whole seconds', async () => {
  give = () => ({ given: 0, nextInMs: 1_200 })
  const refusal = await Promise.resolve(limits.admit(keyAt(1))).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 2 })
})

test('tokens that were not used within a second are lost', async () => {
  await limits.admit(keyAt(1_000))
  now = 1_000
  await limits.admit(keyAt(1_000))
  expect(asked).toHaveLength(2)
})

test('while Redis does not answer, each process goes on with its share', async () => {
  give = () => new Error('away')
  expect(await outcomes(10, 100)).toEqual({ served: 5, refused: 5 })
  now = 50
  expect(await outcomes(1, 100)).toEqual({ served: 1, refused: 0 })
})

test('a request counts against every limit of its key', async () => {
  const limitedBy = [{ id: 'FKY', maxRequestsPerSecond: 20 }]
  const record = { id: 'FKX', kind: 'native', account: '0' } as const
  const key = keyOf({ ...record, scopes: [], prefixes: [], maxRequestsPerSecond: 40, limitedBy })
  await limits.admit(key)
  expect(asked.map(({ keyId, wanted }) => [keyId, wanted])).toEqual([
    ['FKX', 2],
    ['FKY', 1],
  ])
  give = () => ({ given: 0, nextInMs: 400 })
  await expect(limits.admit(key)).rejects.toMatchObject({ code: 'rate_limited' })
})
