/** Checks type and encoding of request bodies, and parses them. */
import { isUtf8 } from 'node:buffer'
import { FantailError, JsonBoundError, parseBounded } from '@fantail/contracts'
import type { ApiRequest } from './api-request.ts'

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i

/** The text of a body. Throws `malformed_json` if it is not UTF-8. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new FantailError('malformed_json', 'the request’s body is not UTF-8')
  return bytes.toString()
}

/** A body's JSON text; '' if there is none. Throws `unsupported_media_type` if the content type is another one. */
export function jsonTextOf(request: ApiRequest, bytes: Buffer): string {
  const text = textOf(bytes)
  if (text !== '' && !JSON_TYPE.test(request.header('content-type') ?? '')) {
    throw new FantailError('unsupported_media_type', 'the body must be JSON: Content-Type: application/json')
  }
  return text
}

export async function readJsonText(request: ApiRequest): Promise<string> {
  return jsonTextOf(request, await request.bytes())
}

/** Throws `malformed_json`. `valuesMax` is given by routes that publish JSON of any number of values. */
export function parseJson(text: string, valuesMax?: number): unknown {
  try {
    return parseBounded(text, valuesMax)
  } catch (error) {
    const detail = error instanceof Error ? error.message : ''
    const message = error instanceof JsonBoundError ? detail : `the body is not JSON: ${detail}`
    throw new FantailError('malformed_json', message, { cause: error })
  }
}
