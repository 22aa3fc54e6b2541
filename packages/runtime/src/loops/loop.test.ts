import { waitFor } from '@fantail/test-kit'
import { afterEach, describe, expect, it } from 'vitest'
import { logLines } from '../log-lines.fixture.ts'
import { createBackoff } from './backoff.ts'
import { createLogger } from './logger.ts'
import { createLoop, type Loop } from './loop.ts'
import { createStateLog } from './state-log.ts'

const NEVER = 3_600_000
const loops: Loop[] = []

afterEach(() => Promise.all(loops.splice(0).map((loop) => loop.stop())))

/** A started loop that counts its rounds. `behave` may throw, and returns the pause. */
function started(behave: (round: number, signal: AbortSignal) => number | Promise<number>, backoffMs = 1) {
  const { destination, lines } = logLines()
  const log = createLogger({ service: 'test', destination })
  const seen = { rounds: 0 }
  const backoff = createBackoff({ minMs: backoffMs, maxMs: backoffMs })
  const round = async (signal: AbortSignal) => {
    seen.rounds++
    return behave(seen.rounds, signal)
  }
  const loop = createLoop({ name: 'janitor', log, round, backoff })
  loops.push(loop)
  loop.start()
  return { loop, seen, events: () => lines().map(({ level, msg }) => `${level} ${msg}`), lines }
}

describe('loop', () => {
  it('takes round after round', async () => {
    const { seen } = started(() => 0)
    await waitFor(() => seen.rounds > 5)
  })

  it('pauses as long as the round says, unless woken', async () => {
    const { loop, seen } = started(() => NEVER)
    await waitFor(() => seen.rounds === 1)
    loop.wake()
    await waitFor(() => seen.rounds === 2)
  })

  it('a wake during a round is not lost', async () => {
    const gate = Promise.withResolvers<number>()
    const { loop, seen } = started((round) => (round === 1 ? gate.promise : NEVER))
    await waitFor(() => seen.rounds === 1)
    loop.wake()
    gate.resolve(NEVER)
    await waitFor(() => seen.rounds === 2)
  })

  it('logs one line when rounds begin to fail and one when they work again', async () => {
    const { seen, events, lines } = started((round) => {
      if (round === 1 || round > 5) return 0
      throw new Error('no Redis')
    })
    await waitFor(() => seen.rounds > 7)
    expect(events()).toEqual(['warn janitor.down', 'info janitor.up'])
    expect(lines()[0]?.err).toMatchObject({ message: 'no Redis' })
  })

  it('no wake shortens the pause after a failure', async () => {
    const { loop, seen, events } = started(() => {
      throw new Error('no Redis')
    }, NEVER)
    await waitFor(() => events().length === 1)
    loop.wake()
    await loop.stop()
    expect(seen.rounds).toBe(1)
  })

  it('stop aborts the round that runs, waits for it, and takes no other', async () => {
    const ended: string[] = []
    const { loop, seen, events } = started(async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ended.push('round')
      throw new Error('given up')
    })
    await waitFor(() => seen.rounds === 1)
    await loop.stop()
    expect(ended).toEqual(['round'])
    expect(seen.rounds).toBe(1)
    expect(events()).toEqual([])
  })
})

describe('backoff', () => {
  it('doubles from 0.1 to 2 s, and starts again after a success', () => {
    const backoff = createBackoff({ random: () => 1 })
    const pauses = () => Array.from({ length: 6 }, () => backoff.nextMs())
    expect(pauses()).toEqual([200, 400, 800, 1_600, 2_000, 2_000])
    backoff.reset()
    expect(pauses()[0]).toBe(200)
  })

  it('spreads its pauses and keeps within its bounds', () => {
    const backoff = createBackoff()
    const pauses = Array.from({ length: 200 }, () => backoff.nextMs())
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(100)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(2_000)
    expect(new Set(pauses).size).toBeGreaterThan(50)
  })
})

describe('state log', () => {
  it('writes one line per change, with how long the state before lasted', () => {
    const { destination, lines } = logLines()
    const report = createStateLog({ log: createLogger({ service: 'test', destination }), what: 'redis' })
    for (const state of ['up', 'up', 'down', 'down', 'up'] as const) report(state, new Error('gone'))
    expect(lines().map(({ msg }) => msg)).toEqual(['redis.up', 'redis.down', 'redis.up'])
    expect(lines()[2]?.durationMs).toEqual(expect.any(Number))
  })
})
