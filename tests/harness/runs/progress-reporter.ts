/**
 * Runs in addition to vitest's own reporter. If the output is no terminal, it prints the progress of a run (vitest does
 * it only on a terminal). At the end of a long run it prints the slowest files.
 */
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node'

const PROGRESS_EVERY_MS = 15_000
const SLOWEST_SHOWN = 10
/** vitest shows the times of fewer files anyway. */
const FILES_MIN = 20

type Line = (text: string) => void

export class ProgressReporter implements Reporter {
  #write: Line = () => undefined
  #files = 0
  #ended = 0
  #failed = 0
  #startedAt = 0
  #nextAt = 0

  onInit({ logger }: Pick<Vitest, 'logger'>): void {
    this.#write = (text) => logger.log(text)
  }

  onTestRunStart({ length }: Pick<readonly TestSpecification[], 'length'>): void {
    this.#files = length
    this.#ended = 0
    this.#failed = 0
    this.#startedAt = performance.now()
    this.#nextAt = this.#startedAt + PROGRESS_EVERY_MS
  }

  onTestModuleEnd(module: Pick<TestModule, 'ok'>): void {
    this.#ended += 1
    if (!module.ok()) this.#failed += 1
    if (process.stdout.isTTY || performance.now() < this.#nextAt) return
    this.#nextAt = performance.now() + PROGRESS_EVERY_MS
    const took = minutes(performance.now() - this.#startedAt)
    this.#write(`\n ${this.#ended} of ${this.#files} files after ${took}, ${this.#failed} failed\n`)
  }

  onTestRunEnd(modules: readonly Pick<TestModule, 'diagnostic' | 'relativeModuleId'>[]): void {
    if (modules.length < FILES_MIN) return
    const times = modules.map((module) => ({ file: module.relativeModuleId, ms: timeOf(module) }))
    const slowest = times.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST_SHOWN)
    const rows = slowest.map(({ file, ms }) => `${(ms / 1_000).toFixed(1).padStart(8)} s  ${file}`)
    this.#write(['', ' Slowest files', ...rows].join('\n'))
  }
}

/** Imports, hooks and tests, in ms. */
function timeOf(module: Pick<TestModule, 'diagnostic'>): number {
  const { collectDuration, duration } = module.diagnostic()
  return collectDuration + duration
}

function minutes(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
