/** Follows the requests of one attempt: each as it was sent, with secrets masked, and how long its parts took. */
import type { DialFacts } from '../connections/dial-facts.ts'

interface TracedRequest {
  method: string
  /** Without credentials. */
  url: string
  headers: Record<string, string>
  body: string | Buffer
}

/** Milliseconds. null: there was no such part, or it has not ended. */
interface ExchangeTimings {
  isReused: boolean
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
  /** From the written request to the first byte of the answer. */
  firstByteMs: number | null
}

interface Sending {
  method: string
  origin: string
  path: string
  headers: string[] | Record<string, string>
  body: string | Buffer
  /** Headers with secrets: those of the subscription's own settings, as a flat list. */
  own: readonly string[]
}

const MASKED = '***'

/** Traces the latest request of an attempt. An attempt makes further requests after a challenge or a reset. */
export class ExchangeTrace {
  #request: TracedRequest | undefined
  #dialled: () => DialFacts | undefined = () => undefined
  #isReused = false
  #writtenAt: number | undefined
  #answeredAt: number | undefined

  get request(): TracedRequest | undefined {
    return this.#request
  }

  /** Whether the request was written. If not, no connection could be opened. */
  get isSent(): boolean {
    return this.#writtenAt !== undefined
  }

  /** Begins with a request. `dialled`: the dial of its connection. */
  begin({ method, origin, path, headers, body, own }: Sending, dialled: () => DialFacts | undefined): void {
    const shown = masked(pairsOf(headers), namesOf(own))
    const added = { host: new URL(origin).host, connection: 'keep-alive' }
    const length = { 'content-length': String(Buffer.byteLength(body)) }
    this.#request = { method, url: origin + path, headers: { ...added, ...shown, ...length }, body }
    this.#dialled = dialled
    this.#writtenAt = undefined
    this.#answeredAt = undefined
  }

  written(isReused: boolean): void {
    this.#isReused = isReused
    this.#writtenAt = performance.now()
  }

  answered(): void {
    this.#answeredAt = performance.now()
  }

  timings(): ExchangeTimings {
    const isReused = this.#isReused
    const { startedAt, resolvedAt, connectedAt, securedAt } = (!isReused && this.#dialled()) || {}
    return {
      isReused,
      dnsMs: between(startedAt, resolvedAt),
      connectMs: between(resolvedAt, connectedAt),
      tlsMs: between(connectedAt, securedAt),
      firstByteMs: between(this.#writtenAt, this.#answeredAt),
    }
  }
}

/** With tenths. */
function between(from: number | undefined, to: number | undefined): number | null {
  return from === undefined || to === undefined ? null : Math.round((to - from) * 10) / 10
}

function pairsOf(headers: string[] | Record<string, string>): [name: string, value: string][] {
  if (!Array.isArray(headers)) return Object.entries(headers)
  return headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? '']] : [])) as [
    string,
    string,
  ][]
}

/** Names in lower case. The user agent is no secret. */
function namesOf(own: readonly string[]): Set<string> {
  const names = own.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
  return new Set(names.filter((name) => name !== 'user-agent'))
}

function masked(headers: [name: string, value: string][], secrets: Set<string>): Record<string, string> {
  const shown = headers.map(([name, value]) => {
    if (secrets.has(name.toLowerCase())) return [name, MASKED]
    return [name, name.toLowerCase() === 'authorization' ? `${value.split(' ', 1)[0]} ${MASKED}` : value]
  })
  return Object.fromEntries(shown)
}
