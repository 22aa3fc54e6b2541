/**
 * Requests that wait for their replies, in memory.
 *
 * added ─ reply ─▶ resolved, or rejected as refused
 * added ─ deadline, the caller's signal, or the requester's end ─▶ rejected; a later reply finds nothing
 */
import { RequestError, type RequestFailure } from './request-errors.ts'

interface Pending {
  resolve(body: string): void
  reject(error: RequestError): void
}

interface Wait {
  correlationId: string
  timeoutMs: number
  signal: AbortSignal | undefined
}

export class PendingRequests {
  readonly #pending = new Map<string, Pending>()

  get size(): number {
    return this.#pending.size
  }

  /** Resolves with the reply's body. Rejects with a RequestError. */
  add({ correlationId, timeoutMs, signal }: Wait): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const onAbort = () => this.fail(correlationId, 'aborted', 'the caller gave up', signal?.reason)
    const timer = setTimeout(
      () => this.fail(correlationId, 'timeout', `no reply came within ${timeoutMs} ms`),
      timeoutMs,
    )
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      this.#pending.delete(correlationId)
    }
    this.#pending.set(correlationId, {
      resolve: (body) => {
        end()
        resolve(body)
      },
      reject: (error) => {
        end()
        reject(error)
      },
    })
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort)
    return promise
  }

  /** False: nobody waits for it. */
  resolve(correlationId: string, body: string): boolean {
    const pending = this.#pending.get(correlationId)
    pending?.resolve(body)
    return pending !== undefined
  }

  /** False: nobody waits for it. */
  fail(correlationId: string, because: RequestFailure, text: string, cause?: unknown): boolean {
    const pending = this.#pending.get(correlationId)
    pending?.reject(new RequestError(because, correlationId, text, cause))
    return pending !== undefined
  }

  failAll(because: RequestFailure, text: string): void {
    for (const correlationId of this.#pending.keys()) this.fail(correlationId, because, text)
  }
}
