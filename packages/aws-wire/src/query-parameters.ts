/** Parameters of an AWS Query request: form encoded, in a body or behind the `?` of a URL. */
import { AwsError } from './aws-error.ts'

/**
 * The fullest request of ours, a batch of ten messages with ten attributes each, has some four hundred.
 * @limit Parameters of a request in the Query protocol. Past it: the request is refused as malformed.
 */
const PARAMETERS_MAX = 10_000

export type QueryParameters = ReadonlyMap<string, string>

/** All parameters of the texts, which may be empty; what an earlier text gives counts, not what a later one does. */
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
  const pairs = text.split('&', PARAMETERS_MAX + 1)
  if (pairs.length > PARAMETERS_MAX) throw malformed('The request has too many parameters.')
  for (const pair of pairs) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    if (parameters.has(name)) throw malformed('Keys may not be repeated.')
    parameters.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)))
  }
  return parameters
}

/** A run of escapes: the bytes of a character stand together. */
const ESCAPES = /(?:%[\da-f]{2})+/gi
const BAD_ESCAPE = /%(?![\da-f]{2})/i

/** `+` is a space; `%XX` are bytes of UTF-8. Only the escapes are decoded: most of a message is none. */
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

/** The error for parameters that no operation could take. */
export function malformed(message: string): AwsError {
  return new AwsError('MalformedInput', message)
}
