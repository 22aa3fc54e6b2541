/** One service of a test stack. It listens at a free port, which its log names. */
import type { ChildProcess } from 'node:child_process'
import { waitUntil } from '../waiting/wait-until.ts'
import { ChildOutput } from './child-output.ts'

const SERVICE_LINES_SHOWN = 30
/** Time of one check whether a service of a test stack is ready. Past it: it is checked again. */
const READY_ANSWER_MS_MAX = 3_000
const READY_POLL_MS = 5
/** A worker without attempts ends at once. */
const SERVICE_STOP_MS = 3_000

export class ServiceChild {
  readonly name: string
  readonly #output: ChildOutput
  #port = 0

  constructor(name: string, child: ChildProcess, onLine: (line: string) => void) {
    this.name = name
    this.#output = new ChildOutput(child, (line) => {
      if (this.#port === 0) this.#port = portIn(line)
      onLine(line)
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** How the service has ended, and the end of its log, if it has ended by itself. */
  get problem(): string | undefined {
    const { end } = this.#output
    return end === undefined ? undefined : `${this.name}: ${end}\n${this.logText()}`
  }

  logText(linesMax = SERVICE_LINES_SHOWN): string {
    return this.#output.lines
      .slice(-linesMax)
      .map((line) => `${this.name} ${line}`)
      .join('\n')
  }

  /** Resolves when the service can be used. Rejects if it ends before that. */
  async untilReady(timeoutMs: number): Promise<void> {
    const check = async () => {
      if (this.problem !== undefined) throw new Error(this.problem)
      return this.#port > 0 && (await this.#isReady())
    }
    const explain = async () => this.logText()
    await waitUntil(check, {
      what: `${this.name} to be ready`,
      timeoutMs,
      intervalMs: READY_POLL_MS,
      explain,
    })
  }

  stop(): Promise<void> {
    return this.#output.stop('SIGTERM', SERVICE_STOP_MS)
  }

  async #isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(READY_ANSWER_MS_MAX) })
      await response.arrayBuffer()
      return response.ok
    } catch {
      return false // It is not listening yet.
    }
  }
}

function portIn(line: string): number {
  if (!/"(api|ops)\.listening"/.test(line)) return 0
  return Number((JSON.parse(line) as { port?: number }).port ?? 0)
}
