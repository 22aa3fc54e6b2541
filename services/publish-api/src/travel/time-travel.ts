/**
 * Moves the time of a private stack (FANTAIL_TIME_TRAVEL), from due time to due time. Before each move nothing is under
 * way, so every attempt is made at its time and in its order, as with a real clock.
 *
 * Sweeps run after a move if a minute has passed since the last one. The time therefore stops when a delivery is too
 * old, or when the lease of a queue or a token ends, and again a minute later if the sweep was not due yet. Redis knows
 * no due times for other work of sweeps, so no move is longer than a tenth of the whole time, within bounds.
 */
import { FantailError } from '@fantail/contracts'
import { type DueWork, moveTime, type Redis, readWork } from '@fantail/store'
import { readStackState, type StackState } from './stack-state.ts'
import { TravelAsker } from './travel-asker.ts'

/**
 * @limit Moves of one request to move the time. Past it: the request ends at the time reached, and the answer says so.
 */
const TRAVEL_STEPS_MAX = 10_000
/** Things that one step of an answer names. Past it: only their number is complete. */
const NAMED_PER_STEP_MAX = 20
const SWEEPS_PER_WAY = 10
const SWEEP_EVERY_MS = 60_000
/** Longest single move of time. Past it: a further move follows, so that sweeps run in between. */
const MOVE_MS_MAX = 21_600_000
const LOOK_AGAIN_AFTER_MS = 1
/** Pause between two reads of the state of a stack that is busy. After it: the state is read again. */
const LOOK_AGAIN_MS_MAX = 20
const BUSY_SHOWN = 10

interface TravelStep {
  /** Epoch ms of this machine at which the time was moved. */
  realTime: number
  /** Epoch ms of the stack after that. */
  time: number
  /** How many things became due, and the names of the first ones. */
  count: number
  due: string[]
}

export interface Travelled {
  time: number
  steps: TravelStep[]
}

interface TimeTravelOptions {
  redis: Redis
  subscriber: Redis
  id: string
  /** Full names of BullMQ's queues. */
  queues: readonly string[]
  onBegin(): void
  onEnd(): void
}

export class TimeTravel {
  readonly #options: TimeTravelOptions
  readonly #asker: TravelAsker
  #isMoving = false

  constructor(options: TimeTravelOptions) {
    this.#options = options
    this.#asker = new TravelAsker(options)
  }

  /**
   * Resolves when everything that became due until then is done. Throws `wrong_state` if something is still under way
   * after `timeoutMs`, and `conflict` while another call moves the time.
   */
  async advance(byMs: number, timeoutMs: number): Promise<Travelled> {
    if (this.#isMoving) throw new FantailError('conflict', 'another request moves the time')
    this.#isMoving = true
    this.#options.onBegin()
    try {
      return await this.#advance(byMs, performance.now() + timeoutMs)
    } finally {
      this.#options.onEnd()
      this.#isMoving = false
    }
  }

  async #advance(byMs: number, until: number): Promise<Travelled> {
    const { redis } = this.#options
    const begin = await readWork(redis, [])
    const target = begin.now + byMs
    const moveMsMax = Math.min(Math.max(byMs / SWEEPS_PER_WAY, SWEEP_EVERY_MS), MOVE_MS_MAX)
    const steps: TravelStep[] = []
    const sweeps = new ComingSweeps()
    let stack = await this.#untilAtRest(begin.offsetMs, until)
    while (stack.now < target) {
      if (steps.length === TRAVEL_STEPS_MAX) throw tooMany(stack)
      const dues = [...stack.due.map(({ at }) => Math.ceil(at)), ...sweeps.after(stack)]
      const time = Math.min(target, stack.now + moveMsMax, ...dues)
      const { realMs, offsetMs } = await moveTime(redis, time)
      steps.push({ realTime: realMs, time: realMs + offsetMs, ...namesOf(stack.due, time) })
      stack = await this.#untilAtRest(offsetMs, until)
    }
    return { time: stack.now, steps }
  }

  async #untilAtRest(offsetMs: number, until: number): Promise<StackState> {
    const options = { ...this.#options, asker: this.#asker }
    for (let pauseMs = LOOK_AGAIN_AFTER_MS; ; pauseMs = Math.min(pauseMs * 2, LOOK_AGAIN_MS_MAX)) {
      const stack = await readStackState(options, offsetMs)
      if (stack.busy.length === 0) return stack
      if (performance.now() > until) throw await this.#stillBusy(stack)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  async #stillBusy({ busy }: StackState): Promise<FantailError> {
    const { now } = await readWork(this.#options.redis, [])
    const more = busy.length > BUSY_SHOWN ? ` and ${busy.length - BUSY_SHOWN} more` : ''
    const shown = busy.slice(0, BUSY_SHOWN).join(', ')
    const message = `the time stands at ${textOf(now)}, because this is still under way: ${shown}${more}`
    return new FantailError('wrong_state', message)
  }
}

/**
 * Times of the next sweeps. A sweep may leave its work undone. So each piece of work gets one sweep, or else the time
 * would stop every minute.
 */
class ComingSweeps {
  readonly #times = new Map<string, number>()

  after({ now, toSweep }: Pick<StackState, 'now' | 'toSweep'>): number[] {
    for (const { what, at } of toSweep) {
      const name = `${what} ${at}`
      if (!this.#times.has(name)) this.#times.set(name, now + SWEEP_EVERY_MS)
    }
    return [...this.#times.values()].filter((at) => at > now)
  }
}

function tooMany({ now }: StackState): FantailError {
  const message = `the time stands at ${textOf(now)} after ${TRAVEL_STEPS_MAX} steps: move it on with another request`
  return new FantailError('wrong_state', message)
}

function namesOf(due: DueWork[], time: number): Pick<TravelStep, 'count' | 'due'> {
  const now = due.filter(({ at }) => at <= time)
  return { count: now.length, due: now.slice(0, NAMED_PER_STEP_MAX).map(({ what }) => what) }
}

function textOf(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
