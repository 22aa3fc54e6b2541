/**
 * Shows on stderr the progress of work that takes more than a second: how much is done, how fast, and the remaining
 * time. A terminal shows one line that changes. If stderr is not a terminal, a plain line is written every five
 * seconds, unless nothing was done since the last one.
 */
import type { Writable } from 'node:stream'
import { printable } from '@fantail/policy'
import { durationText } from './durations.ts'

const FIRST_MS = 1_000
const TERMINAL_MS = 200
const PLAIN_MS = 5_000
const BAR_WIDTH = 30

/** With `isTTY` it is a terminal. */
export type Stderr = Pick<Writable, 'write'> & { isTTY?: boolean }

interface ProgressOptions {
  /** The unit, such as `messages`. */
  what: string
  quiet: boolean
  stderr: Stderr
  clock?: () => number
}

export class Progress {
  readonly #what: string
  readonly #quiet: boolean
  readonly #stderr: Stderr
  readonly #clock: () => number
  readonly #startedAt: number
  #shownAt: number
  #shownDone: number | undefined
  #isShown = false

  constructor({ what, quiet, stderr, clock = performance.now.bind(performance) }: ProgressOptions) {
    this.#what = what
    this.#quiet = quiet
    this.#stderr = stderr
    this.#clock = clock
    this.#startedAt = clock()
    // The first line comes after a second.
    this.#shownAt = this.#startedAt + FIRST_MS - this.#everyMs()
  }

  get elapsedMs(): number {
    return this.#clock() - this.#startedAt
  }

  /** `total` is undefined if the input has no known end. */
  update(done: number, total?: number): void {
    if (this.#quiet || this.#clock() - this.#shownAt < this.#everyMs()) return
    if (!this.#stderr.isTTY && done === this.#shownDone) return
    this.#shownAt = this.#clock()
    this.#shownDone = done
    const text = printable(progressText({ done, total, elapsedMs: this.elapsedMs, what: this.#what }))
    if (this.#stderr.isTTY) {
      this.#stderr.write(`\r\u001b[2K${total === undefined ? '' : bar(done, total)}${text}`)
      this.#isShown = true
    } else this.#stderr.write(`${text}\n`)
  }

  /** Clears the line of the terminal. */
  end(): void {
    if (this.#isShown) this.#stderr.write('\r\u001b[2K')
    this.#isShown = false
  }

  #everyMs(): number {
    return this.#stderr.isTTY ? TERMINAL_MS : PLAIN_MS
  }
}

interface Done {
  done: number
  total: number | undefined
  elapsedMs: number
  what: string
}

export function progressText({ done, total, elapsedMs, what }: Done): string {
  const perSecond = elapsedMs > 0 ? (done * 1_000) / elapsedMs : 0
  const rate = `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`
  if (total === undefined) return `${done} ${what}  ${rate}`
  const share = total === 0 ? 100 : Math.floor((done * 100) / total)
  const left = perSecond > 0 ? `  ${durationText(((total - done) / perSecond) * 1_000)} left` : ''
  return `${share} %  ${done} of ${total} ${what}  ${rate}${done < total ? left : ''}`
}

function bar(done: number, total: number): string {
  const filled = total === 0 ? BAR_WIDTH : Math.min(BAR_WIDTH, Math.round((done / total) * BAR_WIDTH))
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} `
}
