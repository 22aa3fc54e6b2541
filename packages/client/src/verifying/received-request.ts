/** A received request in the forms that frameworks give it, and the reason why it is not trusted. */

/**
 * `headers` may have names in any case. `body` is the text or bytes as received, because parsing and writing would
 * change them.
 */
export interface ReceivedParts {
  headers: Headers | Record<string, string | string[] | undefined>
  body: string | Uint8Array
}

export type ReceivedRequest = Request | ReceivedParts

export interface ReadRequest {
  header(name: string): string | undefined
  body: Uint8Array<ArrayBuffer>
}

/** @limit Body of a received request that is verified. Past it: the request is refused. */
const RECEIVED_BYTES_MAX = 4_194_304

export async function readRequest(request: ReceivedRequest): Promise<ReadRequest> {
  const body = await bodyOf(request)
  if (body.length > RECEIVED_BYTES_MAX) throw new VerifyError('wrong_body', 'the body is too large')
  const { headers } = request
  if (headers instanceof Headers) return { header: (name) => headers.get(name) ?? undefined, body }
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const header = (name: string) => {
    const value = byName.get(name)
    return Array.isArray(value) ? value.join(' ') : value
  }
  return { header, body }
}

async function bodyOf(request: ReceivedRequest): Promise<Uint8Array<ArrayBuffer>> {
  if (!('arrayBuffer' in request)) {
    const { body } = request
    return typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.from(body)
  }
  if (request.bodyUsed) throw new VerifyError('wrong_body', 'the body of the request was read before')
  return new Uint8Array(await request.arrayBuffer())
}

/** Throws for bytes that are not UTF-8. */
export function textOfBody(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch (cause) {
    throw new VerifyError('wrong_body', 'the body is not UTF-8', cause)
  }
}

/** The reason why a received request is not trusted. Answer it with 400, because Fantail does not retry after a 400. */
type VerifyErrorCode =
  | 'missing_header'
  | 'wrong_timestamp'
  | 'too_old'
  | 'wrong_key'
  | 'no_matching_signature'
  | 'wrong_body'
  | 'wrong_certificate'
  | 'wrong_topic'

export class VerifyError extends Error {
  readonly code: VerifyErrorCode

  constructor(code: VerifyErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'VerifyError'
    this.code = code
  }
}

/** The bytes of a base64 text, as Web Crypto takes them. undefined: the text is not base64. */
export function base64Bytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** This type exists with and without the browser's types. */
export type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>
