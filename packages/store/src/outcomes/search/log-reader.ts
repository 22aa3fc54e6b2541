/** Reads one stream of the outcome log backwards, a few bundles at a time. */
import type { Redis } from 'ioredis'
import { byStreamId, readStreamId } from '../../records/stream-ids.ts'

const BACKWARD_BUNDLES_AT_ONCE = 25

export interface StoredBundle {
  stream: number
  /** When Redis stored the bundle, epoch ms. */
  at: number
  /** Number of the bundle among those of the same ms. */
  sequence: number
  entries: Buffer
}

interface LogRange {
  key: string
  stream: number
  /** Id of the newest bundle to read; with `(` before it, the bundle itself is left out. */
  newest: string
  /** Id of the oldest bundle to read. */
  oldest: string
}

type Bundles = [id: Buffer, fields: Buffer[]][]

export class LogReader {
  readonly #redis: Redis
  readonly #range: LogRange
  #newest: string
  #bundles: StoredBundle[] = []
  #isAtEnd = false

  constructor(redis: Redis, range: LogRange) {
    this.#redis = redis
    this.#range = range
    this.#newest = range.newest
  }

  /** The present bundle: the newest one that `pass` has not stepped over. Undefined: there is none. */
  async head(): Promise<StoredBundle | undefined> {
    if (this.#bundles.length === 0 && !this.#isAtEnd) await this.#read()
    return this.#bundles.at(-1)
  }

  /** Steps over the present bundle to the next one. */
  pass(): void {
    this.#bundles.pop()
  }

  async #read(): Promise<void> {
    const { key, stream, oldest } = this.#range
    const found = (await this.#redis.xrevrangeBuffer(
      key,
      this.#newest,
      oldest,
      'COUNT',
      BACKWARD_BUNDLES_AT_ONCE,
    )) as Bundles
    this.#isAtEnd = found.length < BACKWARD_BUNDLES_AT_ONCE
    this.#newest = `(${found.at(-1)?.[0].toString()}`
    this.#bundles = found.map(([id, [, , , entries]]) => bundleOf(stream, id, entries)).reverse()
  }
}

function bundleOf(stream: number, id: Buffer, entries: Buffer | undefined): StoredBundle {
  const [at, sequence] = readStreamId(id)
  return { stream, at, sequence, entries: entries ?? Buffer.alloc(0) }
}

/** Whether bundle `a` comes before `b` when the log is read backwards. */
export function isNewer(a: StoredBundle, b: StoredBundle): boolean {
  const order = byStreamId([a.at, a.sequence], [b.at, b.sequence])
  return order === 0 ? a.stream > b.stream : order > 0
}
