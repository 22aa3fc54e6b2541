/**
 * Explains the deliveries that came more than once. A worker that is killed may repeat what was under way at its kill,
 * and nothing else. Each repeat must come after such a kill, and each kill explains one repeat of a delivery. How much
 * was under way has no bound, because all that came in a burst may end before a first checkpoint.
 *
 * An attempt that timed out explains a repeat too, since its answer may only have come too late. On a busy machine more
 * is under way at a kill, and less is published. A living worker may also lose work there, because it gets no processor
 * until its job or its claim belongs to another. Its log then shows what it lost.
 */
import type { Redis } from '@fantail/store'
import { startFairTimer, steadyNow } from '@fantail/test-kit'
import { expect } from 'vitest'
import type { ServiceProcess } from '../services/service-process.ts'
import { lostAlive } from './lost-alive.ts'
import { textsUnderWay } from './texts-under-way.ts'

/** Share of the deliveries. A quiet machine has fewer repeats, and a busy one fewer that no kill explains. */
const REPEATS_MAX = 0.05
/** On a busy machine the test waits for a processor more than a fifth of the time. */
const QUIET_MIN = 0.8

/** Epoch ms. Requests from before the kill arrive until `to`. */
interface Kill {
  from: number
  to: number
  /** Texts of the messages that were under way. */
  texts: Set<string>
}

/** Times by `<path> <text>`, or by text. */
type Arrivals = Map<string, number[]>

export class KilledWork {
  readonly #kills: Kill[] = []
  readonly #from = steadyNow()
  readonly #took = startFairTimer()
  #isQuiet: boolean | undefined

  /** Kills a worker and starts it again. It is stopped first, so that nothing changes while Redis is asked. */
  async restart(worker: ServiceProcess, redis: Redis, start = () => worker.start()): Promise<void> {
    const from = steadyNow()
    worker.signal('SIGSTOP')
    const texts = await textsUnderWay(redis)
    await worker.kill()
    await start()
    this.#kills.push({ from, to: steadyNow(), texts })
  }

  /** Checks the repeats of all ledgers. Must be called when all work has ended. */
  expectExplained(workers: ServiceProcess[], ...ledgers: Arrivals[]): void {
    this.#isQuiet ??= this.#took() > QUIET_MIN * (steadyNow() - this.#from)
    const all = ledgers.flatMap((arrivals) => [...arrivals])
    const unexplained = all.flatMap(([key, times]) => this.#unexplained(key, times))
    const { late, taken } = lostAlive(workers, this.#from)
    const allowed = late + (this.#isQuiet ? 0 : Math.min(REPEATS_MAX * all.length, taken))
    expect(unexplained.length > allowed ? unexplained : []).toEqual([])
    if (!this.#isQuiet) return
    for (const arrivals of ledgers) expect(repeatsOf(arrivals)).toBeLessThan(REPEATS_MAX * arrivals.size)
  }

  #unexplained(key: string, times: number[]): string[] {
    const text = key.slice(key.indexOf(' ') + 1)
    const kills = this.#kills.filter(({ texts }) => texts.has(text))
    return times.slice(1).flatMap((at, n) => {
      const before = times[n] ?? 0
      const which = kills.findIndex(({ from, to }) => before <= to && from <= at)
      if (which < 0) return [`${key} at ${before} and ${at}`]
      kills.splice(which, 1)
      return []
    })
  }
}

function repeatsOf(arrivals: Arrivals): number {
  return [...arrivals.values()].reduce((sum, { length }) => sum + length - 1, 0)
}
