/**
 * The time of a stack. It passes like any other time, and tests move it forward with `advance`. The stack reports every
 * step of a move. So requests that arrived during the move have the stack's time, too.
 */
import { WaitTimeoutError } from './wait-until.ts'

/** A number is ms. A text has units: `1h`, `90s`, `1d12h`, `250ms`. */
export type Duration = number | string

export interface AdvanceOptions {
  /** The longest wait for work that became due. Default: 30,000. */
  timeoutMs?: number | undefined
}

export interface Advanced {
  /** The stack's time now. */
  time: Date
  /** How often the time was moved. */
  steps: number
  /** Everything that became due, in order. */
  due: string[]
}

interface AdvanceAnswer {
  time: string
  steps: number
  way: { realTime: string; time: string; due: string[] }[]
}

interface Move {
  realMs: number
  offsetMs: number
}

const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])
const DURATION = /^(\d+(\.\d+)?(ms|s|m|h|d))+$/
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g
const ADVANCE_MS = 30_000
/** Steps of time travel that a test stack remembers, to time requests. Past it: the oldest are forgotten. */
const MOVES_KEPT_MAX = 100_000
/** The API answers before this. */
const ANSWER_MARGIN_MS = 10_000

function durationMs(duration: Duration): number {
  if (typeof duration === 'number' && duration > 0 && Number.isFinite(duration)) return duration
  if (typeof duration !== 'string' || !DURATION.test(duration)) {
    throw new TypeError(`a duration is ms or a text like '90s', '1h' or '1d12h', not ${duration}`)
  }
  const parts = [...duration.matchAll(PART)]
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS.get(unit) ?? 0), 0)
}

export class StackTime {
  readonly #url: string
  readonly #moves: Move[] = []

  constructor(url: string) {
    this.#url = url
  }

  /** The stack's time at a time of this machine, both in epoch ms. */
  readonly at = (realMs: number): number => {
    const move = this.#moves.findLast((one) => one.realMs <= realMs)
    return realMs + (move?.offsetMs ?? 0)
  }

  async advance(duration: Duration, { timeoutMs = ADVANCE_MS }: AdvanceOptions = {}): Promise<Advanced> {
    const seconds = durationMs(duration) / 1_000
    const response = await fetch(`${this.#url}/v1/time/advance`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ seconds, timeoutMs }),
      signal: AbortSignal.timeout(timeoutMs + ANSWER_MARGIN_MS),
    })
    const text = await response.text()
    if (!response.ok) throw refusal(response.status, text)
    const { time, steps, way } = JSON.parse(text) as AdvanceAnswer
    for (const step of way) this.#remember(Date.parse(step.realTime), Date.parse(step.time))
    return { time: new Date(time), steps, due: way.flatMap(({ due }) => due) }
  }

  #remember(realMs: number, time: number): void {
    this.#moves.push({ realMs, offsetMs: time - realMs })
    if (this.#moves.length > MOVES_KEPT_MAX) this.#moves.shift()
  }
}

function refusal(status: number, text: string): Error {
  const { error } = readError(text)
  const message = `advance: ${error?.message ?? `${status} ${text}`}`
  return error?.code === 'wrong_state' ? new WaitTimeoutError(message) : new Error(message)
}

function readError(text: string): { error?: { code: string; message: string } } {
  try {
    return JSON.parse(text) as { error?: { code: string; message: string } }
  } catch {
    return {} // The error shows the text itself.
  }
}
