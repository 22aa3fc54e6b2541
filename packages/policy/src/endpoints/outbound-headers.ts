/**
 * Decides which headers a subscription may add to its requests. Headers of the protocol, of Fantail or of one
 * connection are reserved.
 */

/** @limit Headers that a subscription adds to its requests. Past it: `validation_failed`. */
export const OUTBOUND_HEADERS_MAX = 20
/**
 * The sum of names, values and the characters between them. With Fantail's own headers the head stays below 16 KiB, a
 * limit of many servers, Node among them: https://nodejs.org/api/cli.html#--max-http-header-sizesize
 * @limit These headers together. Past it: `validation_failed`.
 */
export const OUTBOUND_HEADER_BYTES_MAX = 8_192
const BYTES_PER_HEADER = 4

/** RFC 9110 §5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
/** RFC 9110 §5.5, but only ASCII, because servers decode other bytes differently. */
const VALUE = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/

/**
 * Headers of one connection (RFC 9110 §7.6.1), headers that describe the body, and headers that Fantail sets itself.
 */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'traceparent',
  'tracestate',
  'upgrade',
])
const RESERVED_PREFIX = /^(proxy-|x-amz-sns-|x-fantail-|webhook-|svix-)/

/** The problems of the headers, each with the header's name. No header's value is repeated. */
export function outboundHeaderProblems(headers: Record<string, string>): { name: string; message: string }[] {
  const entries = Object.entries(headers)
  const problems = entries.flatMap(([name, value]) => {
    const message = headerProblem(name, value)
    return message === undefined ? [] : [{ name, message }]
  })
  const names = entries.map(([name]) => name.toLowerCase())
  const twice = entries.find(([name], at) => names.indexOf(name.toLowerCase()) < at)
  if (twice) problems.push({ name: twice[0], message: 'is there in another case too' })
  if (entries.length > OUTBOUND_HEADERS_MAX)
    problems.push({ name: '', message: `must be at most ${OUTBOUND_HEADERS_MAX}` })
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length + BYTES_PER_HEADER, 0)
  if (bytes > OUTBOUND_HEADER_BYTES_MAX)
    problems.push({ name: '', message: `must have at most ${OUTBOUND_HEADER_BYTES_MAX} bytes together` })
  return problems
}

function headerProblem(name: string, value: string): string | undefined {
  const lower = name.toLowerCase()
  if (!NAME.test(name)) return 'is not a valid header name'
  if (RESERVED.has(lower) || RESERVED_PREFIX.test(lower))
    return 'is a header that Fantail or the connection sets'
  return VALUE.test(value) ? undefined : 'must have a value of printable ASCII without spaces at its ends'
}
