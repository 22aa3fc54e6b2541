import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NUMBER } from '../../scripts/lua-numbers.ts'
import { sendLateMsMax } from './send-time-bounds.ts'
import { isMissed, renew, reserve } from './send-times.fixture.ts'

const { RENEWED_AHEAD_MS, SEND_AHEAD_MS } = NUMBER

const START = 1_760_000_000_000

interface Take {
  /** Ms since the previous take of any worker. */
  pauseMs: number
  count: number
  /** How late the worker sends its claims, as a share of the allowed lateness. */
  lateness: number
}

const rates = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 3_000 }))
const takes = (pauseMsMax: number) =>
  fc.array(
    fc.record({
      pauseMs: fc.nat(pauseMsMax),
      count: fc.integer({ min: 0, max: 400 }),
      lateness: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 120 },
  )

/** Workers take turns in any order with one stored tat. Each sends its claims as late as allowed. */
function play(rate: number, sequence: Take[]) {
  let tat = 0
  let now = START
  const planned: number[] = []
  const sent: number[] = []
  for (const { pauseMs, count, lateness } of sequence) {
    now += pauseMs
    const reserved = reserve(tat, now, rate, SEND_AHEAD_MS, count)
    tat = reserved.tat
    planned.push(...reserved.sendAt)
    sent.push(...reserved.sendAt.map((at) => at + lateness * sendLateMsMax(rate)))
    if (reserved.sendAt.some((at) => at < now || at > now + SEND_AHEAD_MS))
      throw new Error(`out of reach at ${now}`)
  }
  return { planned, sent, end: now }
}

function worstSecond(times: number[]): number {
  return worstIn(1_000, times)
}

function worstIn(windowMs: number, times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  let worst = 0
  let first = 0
  for (const [index, at] of sorted.entries()) {
    while (at - (sorted[first] ?? at) >= windowMs) first++
    worst = Math.max(worst, index - first + 1)
  }
  return worst
}

interface Wake {
  worker: number
  pauseMs: number
  /** Whether the worker stood still since its last wake. */
  stalled: boolean
  count: number
  lateness: number
  /** How many of its requests need another one. */
  again: number
  leadMs: number
}

const wakes = fc.array(
  fc.record({
    worker: fc.nat(2),
    pauseMs: fc.oneof(fc.nat(60), fc.nat(1_500)),
    stalled: fc.boolean(),
    count: fc.integer({ min: 0, max: 100 }),
    lateness: fc.double({ min: 0, max: 1, noNaN: true }),
    again: fc.nat(3),
    leadMs: fc.constantFrom(0, 0, 120, SEND_AHEAD_MS),
  }),
  { minLength: 1, maxLength: 150 },
)

/** Three workers that stand still at times. A late worker renews all its claims, and some requests are repeated. */
function playStalls(rate: number, sequence: Wake[]): number[] {
  let [tat, now] = [0, START]
  const inHand: number[][] = [[], [], []]
  const sent: number[] = []
  for (const { worker, pauseMs, stalled, count, lateness, again, leadMs } of sequence) {
    now += pauseMs
    let mine = (inHand[worker] ?? []).toSorted((a, b) => a - b)
    const take = (given: { sendAt: (number | null)[]; tat: number }) => {
      tat = given.tat
      const times = given.sendAt.filter((at) => at !== null)
      if (times.some((at) => at < now - sendLateMsMax(rate) || at > now + RENEWED_AHEAD_MS))
        throw new Error(`out of reach at ${now}`)
      mine = [...mine, ...times].toSorted((a, b) => a - b)
    }
    const [from = now] = mine
    if (stalled && isMissed(from, now, rate)) {
      const planned = mine
      mine = []
      take(renew(tat, now, { rate, planned, leadMs }))
    }
    const due = mine.filter((at) => at <= now)
    mine = mine.filter((at) => at > now)
    sent.push(...due.map((at) => (stalled ? now : Math.min(now, at + lateness * sendLateMsMax(rate)))))
    for (let n = 0; n < Math.min(again, due.length); n++)
      take(renew(tat, now, { rate, planned: [null], leadMs: 0 }))
    take(reserve(tat, now, rate, SEND_AHEAD_MS, count))
    inHand[worker] = mine
  }
  return sent
}

describe('pacing', () => {
  it('no one-second window holds more than 1.1 r + 1 sends, however workers interleave and lag', () => {
    fc.assert(
      fc.property(rates, takes(400), (rate, sequence) => {
        const { planned, sent } = play(rate, sequence)
        expect(worstSecond(planned)).toBeLessThanOrEqual(rate + 1)
        expect(worstSecond(sent)).toBeLessThanOrEqual(1.1 * rate + 1)
      }),
      { numRuns: 300 },
    )
  })

  it('below one a second no window of T = 10 / r holds more than 1.1 r T + 1', () => {
    const slow = fc.constantFrom(0.9, 0.5, 0.2, 0.05, 0.001)
    fc.assert(
      fc.property(slow, takes(2_000), fc.integer({ min: 1, max: 100 }), (rate, sequence, slowness) => {
        const paused = sequence.map((take) => ({ ...take, pauseMs: take.pauseMs * slowness }))
        const windowMs = 10_000 / rate
        const { planned, sent } = play(rate, paused)
        expect(worstIn(windowMs, planned)).toBeLessThanOrEqual(11)
        expect(worstIn(windowMs, sent)).toBeLessThanOrEqual(12)
      }),
      { numRuns: 300 },
    )
  })

  it('holds so while workers stall at such rates', () => {
    fc.assert(
      fc.property(fc.constantFrom(0.9, 0.5, 0.2, 0.05), wakes, (rate, sequence) => {
        const paused = sequence.map((wake) => ({ ...wake, pauseMs: wake.pauseMs * 20 }))
        expect(worstIn(10_000 / rate, playStalls(rate, paused))).toBeLessThanOrEqual(12)
      }),
      { numRuns: 300 },
    )
  })

  it('holds so while workers stall, move on their claims, and make requests again', () => {
    fc.assert(
      fc.property(rates, wakes, (rate, sequence) => {
        expect(worstSecond(playStalls(rate, sequence))).toBeLessThanOrEqual(1.1 * rate + 1)
      }),
      { numRuns: 500 },
    )
  })

  it('moves late claims and the tat on by the delay where no other has later ones', () => {
    const { sendAt, tat } = reserve(0, START, 20, SEND_AHEAD_MS, 4)
    const late = { rate: 20, planned: sendAt, leadMs: 0 }
    expect(renew(tat, START + 130, late)).toEqual({
      sendAt: sendAt.map((at) => at + 130),
      tat: tat + 130,
    })
  })

  it('gives late claims the next free send times where another worker has later ones, and leaves the others', () => {
    const { sendAt, tat } = reserve(0, START, 20, SEND_AHEAD_MS, 4)
    const others = reserve(tat, START + 100, 20, SEND_AHEAD_MS, 1)
    const late = { rate: 20, planned: sendAt, leadMs: 0 }
    expect(renew(others.tat, START + 130, late)).toEqual({
      sendAt: [others.tat, others.tat + 50, START + 100, START + 150],
      tat: others.tat + 100,
    })
  })

  it('gives the whole rate in the long run while there is a backlog', () => {
    fc.assert(
      fc.property(
        rates,
        fc.array(fc.integer({ min: 1, max: SEND_AHEAD_MS }), { minLength: 5 }),
        (rate, pauses) => {
          const sequence = Array.from({ length: 200 }, (_, index) => ({
            pauseMs: pauses[index % pauses.length] ?? 1,
            count: rate,
            lateness: 0,
          }))
          const { planned, end } = play(rate, sequence)
          const firstTake = START + (sequence[0]?.pauseMs ?? 0)
          const due = ((end + SEND_AHEAD_MS - firstTake) * rate) / 1_000
          expect(Math.abs(planned.length - due)).toBeLessThan(2)
        },
      ),
    )
  })

  it('saves nothing up while a lane is idle', () => {
    const busy = reserve(0, START, 10, SEND_AHEAD_MS, 100)
    const later = reserve(busy.tat, START + 60_000, 10, SEND_AHEAD_MS, 100)
    expect(later.sendAt).toEqual([START + 60_000, START + 60_100, START + 60_200])
  })

  it('gives nothing where the span ahead is taken, and only what is asked for', () => {
    const { tat } = reserve(0, START, 4, SEND_AHEAD_MS, 1)
    expect(reserve(tat, START, 4, SEND_AHEAD_MS, 5)).toEqual({ sendAt: [], tat })
    expect(reserve(0, START, 1_000, SEND_AHEAD_MS, 2).sendAt).toHaveLength(2)
  })

  it('goes on within a turn after a clock that went back an hour', () => {
    const { tat } = reserve(0, START, 10, SEND_AHEAD_MS, 3)
    const back = reserve(tat, START - 3_600_000, 10, SEND_AHEAD_MS, 3)
    expect(reserve(back.tat, START - 3_600_000 + 250, 10, SEND_AHEAD_MS, 3).sendAt).not.toEqual([])
  })

  it('a send time is missed once it is later than the window bound allows', () => {
    expect([1, 2, 5, 8, 1_000].map(sendLateMsMax)).toEqual([500, 250, 100, 100, 100])
    expect(isMissed(START, START + 100, 20)).toBe(false)
    expect(isMissed(START, START + 101, 20)).toBe(true)
    expect(isMissed(START, START + 500, 1)).toBe(false)
  })
})
