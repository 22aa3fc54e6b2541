/** Parameters of an AWS Query request: form encoded, in a body or behind the `?` of a URL. */
import { REQUEST_VALUES_MAX } from '@fantail/contracts'
import { AwsError } from './aws-error.ts'

export type QueryParameters = ReadonlyMap<string, string>

/** All parameters of the texts, which may be empty. If two texts give the same parameter, the earlier text wins. */
export function parseParameters(...texts: string[]): QueryParameters {
  const given = texts.filter((text) => text !== '')
  if (given.length < 2) return decoded(given[0] ?? '')
  const parameters = new Map<string, string>()
  for (const text of given) {
    for (const [name, value] of decoded(text)) if (!parameters.has(name)) parameters.set(name, value)
  }
  return parameters
}

function decoded(text: string): Map<string, string> {
  const parameters = new Map<string, string>()
  if (text === '') return parameters
  const pairs = text.split('&', REQUEST_VALUES_MAX + 1)
  if (pairs.length > REQUEST_VALUES_MAX) throw malformed('The request has too many parameters.')
  for (const pair of pairs) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    if (parameters.has(name)) throw malformed('Keys may not be repeated.')
    parameters.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)))
  }
  return parameters
}

/** Adjacent escapes are decoded together, because the bytes of one character may span several. */
const ESCAPES = /(?:%[\da-f]{2})+/gi
const BAD_ESCAPE = /%(?![\da-f]{2})/i

/** `+` is a space, and `%XX` is a byte of UTF-8. Only the escapes are decoded, because most of a message has none. */
function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    if (BAD_ESCAPE.test(spaced)) throw new URIError('a percent sign that escapes nothing')
    return spaced.replace(ESCAPES, decodeURIComponent)
  } catch (cause) {
    throw new AwsError('MalformedQueryString', 'The query string contains a syntax error.', { cause })
  }
}

/** The error for parameters that no operation could accept. */
export function malformed(message: string): AwsError {
  return new AwsError('MalformedInput', message)
}
