import type { Answered } from '@fantail/policy'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ADAPTIVE, ADAPTIVE_START, type AdaptiveState, adapt } from './adaptive-rate.fixture.ts'

const start = (now: number): AdaptiveState => ({ ...ADAPTIVE_START, bucketAt: now })

/** The state after this many answers per second for this many seconds. */
function after(
  state: AdaptiveState,
  answered: Answered,
  { from, seconds, perSecond }: { from: number; seconds: number; perSecond: number },
) {
  let next = state
  for (let i = 1; i <= seconds * perSecond; i++) next = adapt(next, answered, from + (i * 1_000) / perSecond)
  return next
}

describe('the adaptive rate', () => {
  test('is absent until an answer asks for less', () => {
    const busy = after(start(0), 'ok', { from: 0, seconds: 5, perSecond: 100 })
    expect(busy.rate).toBeNull()
    expect(after(busy, 'failed', { from: 5_000, seconds: 1, perSecond: 100 }).rate).toBeNull()
  })

  test.each(['limited', 'unavailable', 'timeout'] as const)('falls by three tenths with %s', (answered) => {
    const busy = after(start(0), 'ok', { from: 0, seconds: 5, perSecond: 100 })
    const slowed = adapt(busy, answered, 5_100)
    expect(slowed.rate).toBeCloseTo(busy.measured * ADAPTIVE.beta, 6)
    expect(adapt(slowed, answered, 5_150).rate).toBeCloseTo(busy.measured * ADAPTIVE.beta ** 2, 6)
  })

  test('is back where it fell from after the time that CUBIC takes, and goes on', () => {
    const busy = after(start(0), 'ok', { from: 0, seconds: 5, perSecond: 100 })
    let state = adapt(busy, 'limited', 5_100)
    const seconds = Math.cbrt((state.lastMax * 0.3) / 0.4)
    const rates: number[] = []
    for (let now = 5_110; now < 5_100 + seconds * 1_500; now += 10) {
      state = adapt(state, 'ok', now)
      if (now - 5_100 <= seconds * 1_000) expect(state.rate ?? 0).toBeLessThanOrEqual(state.lastMax * 1.01)
      rates.push(state.rate ?? 0)
    }
    expect(Math.max(...rates)).toBeGreaterThan(state.lastMax)
  })

  test('is never less than one in two seconds, nor more than twice what was measured', () => {
    const answers = fc.array(
      fc.tuple(
        fc.nat({ max: 5_000 }),
        fc.constantFrom<Answered>('ok', 'limited', 'timeout', 'refused', 'failed'),
      ),
    )
    fc.assert(
      fc.property(answers, (steps) => {
        let [state, now] = [start(0), 0]
        for (const [wait, answered] of steps) {
          now += wait
          state = adapt(state, answered, now)
          if (state.rate === null) continue
          expect(state.rate).toBeGreaterThanOrEqual(ADAPTIVE.rateMin)
          expect(state.rate).toBeLessThanOrEqual(Math.max(ADAPTIVE.rateMin, 2 * state.measured))
        }
      }),
    )
  })
})
