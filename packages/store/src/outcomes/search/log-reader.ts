/** Reads one stream of the outcome log backwards, a few pages at a time. */
import type { Redis } from 'ioredis'
import { byStreamId, readStreamId } from '../../records/stream-ids.ts'

const BACKWARD_PAGES_AT_ONCE = 25

export interface StoredPage {
  stream: number
  /** When Redis stored the page, epoch ms. */
  at: number
  /** Number of the page among those of the same ms. */
  sequence: number
  entries: Buffer
}

interface LogRange {
  key: string
  stream: number
  /** Id of the newest page to read; with `(` before it, the page itself is left out. */
  newest: string
  /** Id of the oldest page to read. */
  oldest: string
}

type Pages = [id: Buffer, fields: Buffer[]][]

export class LogReader {
  readonly #redis: Redis
  readonly #range: LogRange
  #newest: string
  #pages: StoredPage[] = []
  #isAtEnd = false

  constructor(redis: Redis, range: LogRange) {
    this.#redis = redis
    this.#range = range
    this.#newest = range.newest
  }

  /** The present page: the newest one that `pass` has not stepped over. Undefined: there is none. */
  async head(): Promise<StoredPage | undefined> {
    if (this.#pages.length === 0 && !this.#isAtEnd) await this.#read()
    return this.#pages.at(-1)
  }

  /** Steps over the present page to the next one. */
  pass(): void {
    this.#pages.pop()
  }

  async #read(): Promise<void> {
    const { key, stream, oldest } = this.#range
    const found = (await this.#redis.xrevrangeBuffer(
      key,
      this.#newest,
      oldest,
      'COUNT',
      BACKWARD_PAGES_AT_ONCE,
    )) as Pages
    this.#isAtEnd = found.length < BACKWARD_PAGES_AT_ONCE
    this.#newest = `(${found.at(-1)?.[0].toString()}`
    this.#pages = found.map(([id, [, , , entries]]) => pageOf(stream, id, entries)).reverse()
  }
}

function pageOf(stream: number, id: Buffer, entries: Buffer | undefined): StoredPage {
  const [at, sequence] = readStreamId(id)
  return { stream, at, sequence, entries: entries ?? Buffer.alloc(0) }
}

/** Whether page `a` comes before `b` when the log is read backwards. */
export function isNewer(a: StoredPage, b: StoredPage): boolean {
  const order = byStreamId([a.at, a.sequence], [b.at, b.sequence])
  return order === 0 ? a.stream > b.stream : order > 0
}
