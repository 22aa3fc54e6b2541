/** A received request in the forms that frameworks give it. */
import { VerifyError } from './verify-error.ts'

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
