/**
 * A request as routes read it. Behind a server it reads Node's own message, because making a web Request of it would
 * scan for headers and copy the body. Otherwise, as in tests, it reads a web Request.
 */
import type { IncomingMessage } from 'node:http'
import { FantailError } from '@fantail/contracts'
import type { ReachedBy } from './client-address.ts'

interface Reading {
  /** Bytes of the body. */
  bytesMax: number
  reachedBy: ReachedBy
}

export class ApiRequest {
  readonly #request: Request
  readonly #incoming: IncomingMessage | undefined
  readonly #bytesMax: number
  readonly #reachedBy: ReachedBy

  constructor(request: Request, incoming: IncomingMessage | undefined, { bytesMax, reachedBy }: Reading) {
    this.#request = request
    this.#incoming = incoming
    this.#bytesMax = bytesMax
    this.#reachedBy = reachedBy
  }

  get method(): string {
    return this.#request.method
  }

  get url(): string {
    return this.#request.url
  }

  /** Aborted if the caller closes the connection before its answer. */
  get signal(): AbortSignal {
    return this.#request.signal
  }

  /** The caller's address, behind trusted proxies too (client-address.ts). Undefined without a connection. */
  get remoteAddress(): string | undefined {
    return this.#reachedBy.addressOf(this.#peer, this.header('x-forwarded-for'))
  }

  /** Whether the caller used TLS, behind trusted proxies too. */
  get isSecure(): boolean {
    const forwarded = this.#reachedBy.isSecure(this.#peer, this.header('x-forwarded-proto'))
    if (forwarded !== undefined) return forwarded
    return this.#request.url.startsWith('https:')
  }

  get #peer(): string | undefined {
    return this.#incoming?.socket.remoteAddress
  }

  /** A header by its name in lower case. Repeated headers are joined by commas (see server.ts). */
  header(name: string): string | undefined {
    if (this.#incoming === undefined) return this.#request.headers.get(name) ?? undefined
    const value = this.#incoming.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /**
   * The whole body. Rejects with `too_large` as soon as it exceeds the limit, also if no length was announced. Rejects
   * with `malformed_json` if the sender stops in the middle. The default is the limit of the route.
   */
  bytes(bytesMax = this.#bytesMax): Promise<Buffer> {
    if (Number(this.header('content-length') ?? 0) > bytesMax) return Promise.reject(tooLarge(bytesMax))
    return this.#incoming === undefined
      ? webBytes(this.#request, bytesMax)
      : incomingBytes(this.#incoming, bytesMax)
  }
}

function incomingBytes(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // No further event would come.
    if (incoming.destroyed || incoming.readableEnded) reject(endedEarly(incoming.errored))
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= bytesMax) {
        chunks.push(chunk)
        return
      }
      // After the answer is sent, the server discards the rest of the body, up to a limit.
      incoming.off('data', onData).pause()
      reject(tooLarge(bytesMax))
    }
    incoming.on('data', onData)
    incoming.once('end', () => resolve(Buffer.concat(chunks, size)))
    incoming.once('error', (error) => reject(endedEarly(error)))
    incoming.once('close', () => {
      if (!incoming.readableEnded) reject(endedEarly(incoming.errored))
    })
  })
}

async function webBytes({ body }: Request, bytesMax: number): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0)
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => Promise.reject(endedEarly(error)))
    if (done) return Buffer.concat(chunks, size)
    size += value.byteLength
    if (size > bytesMax) {
      // The rest of the body is not read. It does not matter if the cancellation fails.
      reader.cancel().catch(() => undefined)
      throw tooLarge(bytesMax)
    }
    chunks.push(value)
  }
}

function endedEarly(cause: unknown): FantailError {
  return new FantailError('malformed_json', 'the request’s body ended early', { cause })
}

function tooLarge(bytesMax: number): FantailError {
  return new FantailError('too_large', `a request’s body may have at most ${bytesMax} bytes`)
}
