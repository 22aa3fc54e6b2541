/** Request bodies: read with a bound, checked for type and encoding, parsed. */
import { isUtf8 } from 'node:buffer'
import { FantailError, REQUEST_BYTES_MAX } from '@fantail/contracts'

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i

/** The whole body; `too_large` as soon as it is known to exceed the limit, also where no length was announced. */
export async function readBytes(request: Request): Promise<Buffer> {
  const announced = request.headers.get('content-length')
  if (announced !== null && Number(announced) > REQUEST_BYTES_MAX) throw tooLarge()
  // A length that was announced is enforced by the HTTP parser: only other bodies need counting.
  const bytes =
    announced === null ? await readCounting(request) : Buffer.from(await received(request.arrayBuffer()))
  if (bytes.length > REQUEST_BYTES_MAX) throw tooLarge()
  return bytes
}

async function readCounting(request: Request): Promise<Buffer> {
  if (request.body === null) return Buffer.alloc(0)
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await received(reader.read())
    if (done) return Buffer.concat(chunks, size)
    size += value.byteLength
    if (size > REQUEST_BYTES_MAX) {
      // Nobody waits for the rest; whether the sender minds the cancellation does not matter.
      reader.cancel().catch(() => undefined)
      throw tooLarge()
    }
    chunks.push(value)
  }
}

/** A body that breaks off is the sender's doing. */
async function received<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw new FantailError('malformed_json', 'the request’s body ended early', { cause: error })
  }
}

/** The body as text; `malformed_json` where it is not UTF-8. */
export async function readText(request: Request): Promise<string> {
  const bytes = await readBytes(request)
  if (!isUtf8(bytes)) throw new FantailError('malformed_json', 'the request’s body is not UTF-8')
  return bytes.toString()
}

/** The body's JSON text, '' where there is no body; `unsupported_media_type` where it is said to be something else. */
export async function readJsonText(request: Request): Promise<string> {
  const text = await readText(request)
  if (text !== '' && !JSON_TYPE.test(request.headers.get('content-type') ?? '')) {
    throw new FantailError('unsupported_media_type', 'the body must be JSON: Content-Type: application/json')
  }
  return text
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const detail = error instanceof Error ? error.message : ''
    throw new FantailError('malformed_json', `the body is not JSON: ${detail}`, { cause: error })
  }
}

function tooLarge(): FantailError {
  return new FantailError('too_large', `a request’s body may have at most ${REQUEST_BYTES_MAX} bytes`)
}
