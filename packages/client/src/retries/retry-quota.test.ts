import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AdaptiveRate } from './adaptive-rate.ts'
import { RETRY_TOKENS_MAX, RetryQuota, retryAfterMs, retryDelayMs } from './retry-quota.ts'

const kind = fc.constantFrom('transient' as const, 'throttling' as const)
const step = fc.oneof(
  fc.record({ does: fc.constant('retry' as const), kind }),
  fc.record({ does: fc.constant('succeed' as const) }),
)

test('the quota holds 0 to 500 tokens, takes a cost or nothing, and gives back what was taken', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const quota = new RetryQuota()
      let taken: number | undefined
      for (const one of steps) {
        const before = quota.tokens
        if (one.does === 'retry') {
          const cost = one.kind === 'transient' ? 14 : 5
          taken = quota.take(one.kind)
          expect(taken).toBe(before >= cost ? cost : undefined)
          expect(quota.tokens).toBe(before - (taken ?? 0))
        } else {
          quota.giveBack(taken)
          expect(quota.tokens).toBe(Math.min(RETRY_TOKENS_MAX, before + (taken ?? 1)))
          taken = undefined
        }
        expect(quota.tokens).toBeGreaterThanOrEqual(0)
      }
    }),
  )
})

test('a server that always fails gets at most 500 tokens of retries beside the first attempts', () => {
  fc.assert(
    fc.property(fc.array(kind, { minLength: 200, maxLength: 400 }), (kinds) => {
      const quota = new RetryQuota()
      const spent = kinds.reduce((sum, one) => sum + (quota.take(one) ?? 0), 0)
      expect(spent).toBeLessThanOrEqual(RETRY_TOKENS_MAX)
      expect(spent).toBeGreaterThan(RETRY_TOKENS_MAX - 14)
    }),
  )
})

test('those who wait get tokens in their order, and leave when their signal aborts', async () => {
  const quota = new RetryQuota()
  while (quota.take('transient') !== undefined);
  const left = quota.tokens
  const never = new AbortController().signal
  const leaving = new AbortController()
  const order: string[] = []
  const first = quota.wait('transient', never).then((taken) => order.push(`first ${taken}`))
  const second = quota.wait('transient', leaving.signal)
  const third = quota.wait('throttling', never).then((taken) => order.push(`third ${taken}`))
  leaving.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
  // Nobody passes those who wait.
  expect(quota.take('throttling')).toBeUndefined()
  quota.giveBack(14 - left)
  await first
  quota.giveBack(5)
  await third
  expect([order, quota.tokens]).toEqual([['first 14', 'third 5'], 0])
})

test('a retry waits from 0 to a delay that doubles up to 20 s', () => {
  const longest = (kind: 'transient' | 'throttling') =>
    [1, 2, 3, 10, 40].map((retry) => retryDelayMs(kind, retry, 1))
  expect(longest('transient')).toEqual([50, 100, 200, 20_000, 20_000])
  expect(longest('throttling')).toEqual([1_000, 2_000, 4_000, 20_000, 20_000])
  expect(retryDelayMs('throttling', 3, 0)).toBe(0)
})

test('Retry-After is seconds or a date; anything else counts as absent', () => {
  const now = Date.parse('Mon, 23 Nov 2026 10:00:00 GMT')
  expect(retryAfterMs('7', now)).toBe(7_000)
  expect(retryAfterMs('Mon, 23 Nov 2026 10:00:05 GMT', now)).toBe(5_000)
  expect(retryAfterMs('Mon, 23 Nov 2026 09:00:00 GMT', now)).toBe(0)
  expect([retryAfterMs(null, now), retryAfterMs('soon', now)]).toEqual([undefined, undefined])
})

/** Sends as often as the rate allows, up to 100 a second. Past `limit` a second the server throttles. */
function sentPerSecond(limit: number, seconds: number): number[] {
  const rate = new AdaptiveRate()
  const perSecond = Array.from({ length: seconds }, () => 0)
  for (let now = 0; now < seconds; now += 0.01) {
    const waitMs = rate.takeAt(now)
    if (waitMs > 0) {
      rate.return()
      continue
    }
    const second = Math.floor(now)
    perSecond[second] = (perSecond[second] ?? 0) + 1
    rate.note((perSecond[second] ?? 0) > limit, now)
  }
  return perSecond
}

test('adaptive mode limits nothing before a throttled answer, and then keeps near what the server takes', () => {
  expect(sentPerSecond(1_000, 3).every((count) => count >= 99)).toBe(true)
  const sent = sentPerSecond(20, 60).slice(10)
  const mean = sent.reduce((sum, count) => sum + count, 0) / sent.length
  expect(mean).toBeGreaterThan(10)
  expect(mean).toBeLessThan(40)
})
