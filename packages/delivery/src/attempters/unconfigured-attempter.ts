/** The attempter of a protocol whose settings this process does not have. Deliveries of existing subscriptions wait. */
import type { Attempt, AttemptDone, Attempter } from './attempter.ts'

export class UnconfiguredAttempter implements Attempter {
  readonly lacks: string

  /** `setting`: the environment variable that turns the protocol on. */
  constructor(setting: string) {
    this.lacks = setting
  }

  credentialOf(): string {
    return this.lacks
  }

  openAhead(): void {}

  attempt(_: Attempt, done: AttemptDone): void {
    const detail = `${this.lacks} is not set`
    setImmediate(done, { kind: 'misconfigured', credential: this.lacks, detail, durationMs: 0 })
  }

  async close(): Promise<void> {}
}
