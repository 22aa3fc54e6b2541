/**
 * A stream of texts for a reader that may be slow. The texts that it has not read yet are limited. Past the limit
 * `push` refuses further texts, and the caller counts them.
 */

/** Bytes that the connection holds before its reader must continue to read. */
const BUFFERED_BYTES = 65_536
/** @limit Events that wait for a slow listener. Past it: they are left out, and `gap` counts them. */
const WAITING_EVENTS_MAX = 1_000
/**
 * @limit memory (API, each listener) Bytes that wait for a slow listener. Past it: events are left out, and `gap`
 * counts them.
 */
const WAITING_EVENT_BYTES_MAX = 1_048_576

export class BoundedStream {
  readonly readable: ReadableStream<Uint8Array>
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** Texts that one turn of the event loop has pushed. The connection gets them as one chunk. */
  #gathered: Uint8Array[] = []
  #gatheredBytes = 0
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #readAt = performance.now()
  #isClosed = false
  #wakes: (() => void)[] = []

  /** `onGone`: called when the reader has closed its connection. */
  constructor(onGone: () => void) {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#pull(),
        cancel: () => {
          this.#end()
          onGone()
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BUFFERED_BYTES }),
    )
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get isBlocked(): boolean {
    return this.#waiting.length > 0
  }

  /** For how many ms texts have waited without the reader taking any. */
  get stalledMs(): number {
    return this.isBlocked ? performance.now() - this.#readAt : 0
  }

  /** Whether `push` would accept another text. */
  get hasCapacity(): boolean {
    return this.#waiting.length < WAITING_EVENTS_MAX && this.#waitingBytes < WAITING_EVENT_BYTES_MAX
  }

  /** Returns false if there is no capacity for the text. Bytes are not copied, and must stay as they are. */
  push(text: string | Uint8Array): boolean {
    if (this.#isClosed || !this.hasCapacity) return false
    const bytes = typeof text === 'string' ? this.#encoder.encode(text) : text
    if (this.isBlocked || !this.#takes()) {
      this.#waiting.push(bytes)
      this.#waitingBytes += bytes.length
    } else this.#gather(bytes)
    return true
  }

  /** Resolves when the reader has taken all texts that waited, or when the stream has ended. */
  async whenRead(): Promise<void> {
    while (this.isBlocked && !this.#isClosed) await new Promise<void>((resolve) => this.#wakes.push(resolve))
  }

  close(): void {
    if (this.#isClosed) return
    this.#flush()
    this.#end()
    this.#controller?.close()
  }

  #takes(): boolean {
    return (this.#controller?.desiredSize ?? 0) > this.#gatheredBytes
  }

  #gather(bytes: Uint8Array): void {
    if (this.#gathered.length === 0) queueMicrotask(() => this.#flush())
    this.#gathered.push(bytes)
    this.#gatheredBytes += bytes.length
  }

  #flush(): void {
    const [first, ...others] = this.#gathered
    this.#gathered = []
    this.#gatheredBytes = 0
    if (!first || this.#isClosed) return
    this.#controller?.enqueue(others.length === 0 ? first : Buffer.concat([first, ...others]))
  }

  #pull(): void {
    this.#flush()
    this.#readAt = performance.now()
    let taken = 0
    while (taken < this.#waiting.length && this.#takes()) {
      const bytes = this.#waiting[taken++] as Uint8Array
      this.#waitingBytes -= bytes.length
      this.#controller?.enqueue(bytes)
    }
    this.#waiting = this.#waiting.slice(taken)
    if (!this.isBlocked) this.#wake()
  }

  #end(): void {
    this.#isClosed = true
    this.#gathered = []
    this.#waiting = []
    this.#waitingBytes = 0
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#wakes.splice(0)) resolve()
  }
}
