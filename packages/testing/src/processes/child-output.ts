/** The output of a child process, and its end. */
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'

/** Lines of a service that a test stack keeps. Past it: the oldest are forgotten. */
const OUTPUT_LINES_MAX = 5_000

export class ChildOutput {
  readonly lines: string[] = []
  readonly #child: ChildProcess
  readonly #onLine: (line: string) => void
  #error: Error | undefined

  /** Collects the output. The child then also no longer keeps this process running. */
  constructor(child: ChildProcess, onLine: (line: string) => void = () => undefined) {
    this.#child = child
    this.#onLine = onLine
    child.once('error', (error) => {
      this.#error = error
    })
    for (const stream of [child.stdout, child.stderr]) if (stream) this.#keepLines(stream)
    child.unref()
    for (const stream of child.stdio) (stream as Socket | null)?.unref()
  }

  /** Why the child has ended. undefined: it runs. */
  get end(): string | undefined {
    const { exitCode, signalCode } = this.#child
    if (this.#error) return this.#error.message
    if (exitCode === null && signalCode === null) return undefined
    return `it ended with ${exitCode === null ? signalCode : `exit code ${exitCode}`}`
  }

  text(linesMax: number): string {
    return this.lines.slice(-linesMax).join('\n')
  }

  /** Sends the signal, and SIGKILL if the child takes longer than `graceMs`. Resolves when it has ended. */
  async stop(signal: NodeJS.Signals, graceMs: number): Promise<void> {
    const child = this.#child
    if (this.end !== undefined) return
    child.ref()
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
    child.kill(signal)
    await ended
    clearTimeout(timer)
  }

  #keepLines(stream: NodeJS.ReadableStream): void {
    let rest = ''
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#keep(line)
    })
  }

  #keep(line: string): void {
    this.lines.push(line)
    if (this.lines.length > OUTPUT_LINES_MAX) this.lines.shift()
    this.#onLine(line)
  }
}
