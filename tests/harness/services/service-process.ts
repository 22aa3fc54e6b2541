/**
 * One service as a child process of the test, as users run it, with settings from the environment. In a run of vitest
 * it starts from the bundle of its sources (`service-bundles.ts`), elsewhere from the sources themselves. It listens at
 * free ports, which are read from its log. The log is kept for failed tests.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@fantail/test-kit'
import { machineEnv } from '../runs/machine-env.ts'
import { bundleOf } from './service-bundles.ts'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const LINES_MAX = 20_000
const LINES_SHOWN = 50
const ROUTINE = /"msg":"(message\.published|delivery\.attempted|dispatch\.completed)"/
/** A process that is told to stop gives up by itself after 18 s. */
const STOP_TIMEOUT_MS = 20_000
/** A start takes half a second, and much longer on a busy machine. */
const START_TIMEOUT_MS = 60_000

export type ServiceName = 'publish-api' | 'delivery-worker' | 'redrive'

interface LogLine {
  level: string
  msg: string
  [field: string]: unknown
}

/** Tests look at the whole log again and again. So each line is parsed only once, when it is first read. */
interface KeptLine {
  text: string
  parsed?: LogLine
}

/** Children end with the test process, also if it crashes. */
const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

export class ServiceProcess {
  readonly name: ServiceName
  readonly label: string
  /** Called with log lines as they arrive. */
  onLines: (lines: string[]) => void = () => undefined
  /** The folder of the bundles for the next start, if it is not that of the run. */
  bundles: string | undefined
  readonly #env: Record<string, string>
  readonly #checkout: string | undefined
  #child: ChildProcess | undefined
  #lines: KeptLine[] = []
  /** Number of lines that were logged before the present start. */
  #startedAtLine = 0
  #port = 0

  /** `checkout`: the folder of the sources to start from. Default: the bundle, else the sources of this repository. */
  constructor(name: ServiceName, label: string, env: Record<string, string>, checkout?: string) {
    this.name = name
    this.label = label
    this.#env = env
    this.#checkout = checkout
  }

  /** Origin of the API, or of another service's health and metrics. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Whether it is running and its port is known. */
  get isListening(): boolean {
    return this.running && this.#port > 0
  }

  /** The logged lines, parsed. The `msg` of a line that is not JSON is the whole line. */
  logLines(): LogLine[] {
    return this.#lines.map(parsedOnce)
  }

  /** The last lines as text, without those that every message and attempt writes. */
  logText(): string {
    const telling = this.#lines.filter(({ text }) => !ROUTINE.test(text)).slice(-LINES_SHOWN)
    return telling.map(({ text }) => `${this.label} ${text}`).join('\n')
  }

  /** Starts the process. Resolves when it listens and, by default, is ready. */
  async start({ untilReady = true } = {}): Promise<void> {
    this.#startedAtLine = this.#lines.length
    this.#port = 0
    const source = `services/${this.name}/src/main.ts`
    const bundle = this.bundles === undefined ? bundleOf(this.name) : `${this.bundles}/${this.name}.mjs`
    const main = this.#checkout === undefined ? (bundle ?? source) : source
    const env = { ...machineEnv(), ...this.#env }
    const words = ['--conditions=@fantail/source', main]
    const child = spawn(process.execPath, words, {
      cwd: this.#checkout ?? ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    living.add(child)
    child.once('exit', () => living.delete(child))
    for (const stream of [child.stdout, child.stderr]) this.#keepLines(stream)
    const wait = { intervalMs: 20, timeoutMs: START_TIMEOUT_MS }
    await waitFor(() => this.#listens(), { ...wait, what: `${this.label} to listen` })
    if (!untilReady) return
    // Asking again and again over HTTP would take a tenth of the CPU of a start.
    await waitFor(() => this.#hasStarted(), { ...wait, what: `${this.label} to start` })
    await waitFor(() => this.isReady(), { ...wait, what: `${this.label} to be ready` })
  }

  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(3_000) })
      await response.arrayBuffer()
      return response.ok
    } catch {
      return false
    }
  }

  /** Sends SIGKILL by default. Resolves when the process has ended. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (!child || !this.running) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }

  /** Sends SIGSTOP or SIGCONT, without waiting. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /**
   * Stops the process like a supervisor: by SIGTERM, and by force if that takes too long. Resolves with the exit code.
   */
  async stop(): Promise<number | null> {
    const child = this.#child
    if (!child || !this.running) return child?.exitCode ?? null
    child.kill('SIGCONT')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await this.kill('SIGTERM')
    clearTimeout(timer)
    return child.exitCode
  }

  #listens(): boolean {
    this.#port = Number(this.#logged('api.listening', 'ops.listening')?.port ?? 0)
    return this.#port > 0
  }

  #hasStarted(): boolean {
    return this.#logged(`${this.name}.started`) !== undefined
  }

  /** The first line of the present start with one of these texts. Throws if the process has ended. */
  #logged(...texts: string[]): LogLine | undefined {
    if (!this.running) throw new Error(`${this.label} ended while starting\n${this.logText()}`)
    const lines = this.#lines.slice(this.#startedAtLine).map(parsedOnce)
    return lines.find(({ msg }) => texts.includes(msg))
  }

  #keepLines(stream: NodeJS.ReadableStream): void {
    let rest = ''
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const text of lines) this.#lines.push({ text })
      this.onLines(lines)
      const over = this.#lines.length - LINES_MAX
      if (over <= 0) return
      this.#lines.splice(0, over)
      this.#startedAtLine = Math.max(0, this.#startedAtLine - over)
    })
  }
}

function parsedOnce(line: KeptLine): LogLine {
  line.parsed ??= parseLine(line.text)
  return line.parsed
}

function parseLine(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine
  } catch {
    return { level: 'raw', msg: line }
  }
}
