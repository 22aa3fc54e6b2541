/**
 * Compiles schemas in a thread, one after the other. The thread starts with the first schema. It is ended past a time
 * or memory limit, and when it has had nothing to do for a while.
 */
import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { EVENT_SCHEMA_DEPTH_MAX, FantailError } from '@fantail/contracts'
import type { SchemaJob, SchemaReply } from './schema-code.ts'

/** Time for one schema. Past it: the thread is ended, and the schema is refused. */
const COMPILE_MS_MAX = 5_000
/** Time that the thread may take to start. Past it: the compilation fails. */
const START_MS_MAX = 60_000
/** After this time without a schema, the thread is ended. */
const IDLE_MS = 10_000
/** Schemas that wait for the thread. Past it: `rate_limited`. */
const WAITING_MAX = 200
/**
 * @limit memory (API) Heap of the thread that compiles schemas. Past it: the thread ends, and the schema is refused.
 */
const COMPILE_HEAP_BYTES_MAX = 134_217_728
const BYTES_PER_MB = 1_048_576

/** Stack of the thread. The process itself has a little more. */
const STACK_MB = 1

interface Waiting {
  job: SchemaJob
  resolve(reply: SchemaReply): void
  reject(error: Error): void
}

export class SchemaCompiler {
  readonly #waiting: Waiting[] = []
  readonly #compileMsMax: number
  #thread: Worker | undefined
  #isReady = false
  #current: Waiting | undefined
  #timer: NodeJS.Timeout | undefined

  constructor({ compileMsMax = COMPILE_MS_MAX }: { compileMsMax?: number } = {}) {
    this.#compileMsMax = compileMsMax
  }

  /**
   * The code of the schema's check, or why the schema or an example is refused. Rejects with `rate_limited`, or if no
   * thread can be started. `schema` and `examples` are JSON texts.
   */
  compile(schema: string, examples: readonly string[] = []): Promise<SchemaReply> {
    if (this.#waiting.length >= WAITING_MAX)
      throw new FantailError('rate_limited', 'too many schemas wait to be compiled', { retryAfterSeconds: 1 })
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job: { schema, examples, depthMax: EVENT_SCHEMA_DEPTH_MAX }, resolve, reject })
      this.#next()
    })
  }

  /** Waiting schemas are rejected. */
  async stop(): Promise<void> {
    const stopped = new FantailError('storage_unavailable', 'the process is stopping')
    for (const { reject } of this.#waiting.splice(0)) reject(stopped)
    await this.#end((current) => current.reject(stopped))
  }

  #next(): void {
    if (this.#current) return
    this.#current = this.#waiting.shift()
    clearTimeout(this.#timer)
    if (!this.#current) this.#timer = setTimeout(() => void this.#end(), IDLE_MS).unref()
    else if (!this.#thread) this.#start()
    else if (this.#isReady) this.#send(this.#current)
  }

  #start(): void {
    const thread = new Worker(threadFile(), {
      execArgv: [],
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: COMPILE_HEAP_BYTES_MAX / BYTES_PER_MB,
        stackSizeMb: STACK_MB,
      },
    })
    thread.unref()
    this.#thread = thread
    this.#isReady = false
    const failed = (error: Error) => {
      if (this.#thread === thread) this.#fail(error)
    }
    thread.on('message', (message: SchemaReply | 'ready') => {
      if (this.#thread === thread) this.#receive(message)
    })
    thread.on('error', failed)
    thread.on('exit', () => failed(new Error('the thread that compiles schemas has ended')))
    this.#timer = setTimeout(
      () => failed(new Error('the thread that compiles schemas has not started')),
      START_MS_MAX,
    )
    this.#timer.unref()
  }

  #send({ job }: Waiting): void {
    const { name } = SchemaCompiler
    this.#timer = setTimeout(
      () => this.#fail(new Error(`${name} gave it ${this.#compileMsMax} ms`)),
      this.#compileMsMax,
    ).unref()
    this.#thread?.postMessage(job)
  }

  #receive(message: SchemaReply | 'ready'): void {
    if (message === 'ready') {
      this.#isReady = true
      clearTimeout(this.#timer)
      if (this.#current) this.#send(this.#current)
      return
    }
    this.#current?.resolve(message)
    this.#current = undefined
    this.#next()
  }

  /** If the thread had begun the schema, the schema is to blame. */
  #fail(error: Error): void {
    const problem = { path: 'schema', message: 'takes too much time or memory to be compiled' }
    const begun = this.#isReady
    const end = (current: Waiting) => (begun ? current.resolve({ problem }) : current.reject(error))
    void this.#end(end).then(() => this.#next())
  }

  async #end(settle?: (current: Waiting) => void): Promise<void> {
    const thread = this.#thread
    const current = this.#current
    this.#thread = undefined
    this.#current = undefined
    clearTimeout(this.#timer)
    await thread?.terminate()
    if (current) settle?.(current)
  }
}

/** Beside this file: its source, its compiled form, or its bundle (infra/bundle/bundle-services.ts). */
function threadFile(): URL {
  const files = ['.ts', '.js', '.mjs'].map((end) => new URL(`./schema-thread${end}`, import.meta.url))
  const found = files.find((file) => existsSync(file))
  if (!found) throw new Error(`no schema-thread beside ${import.meta.url}`)
  return found
}
