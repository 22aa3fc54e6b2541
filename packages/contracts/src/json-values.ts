/** Reads JSON that other programs have written. */

/** @limit Nesting of JSON in requests. Past it: the request is refused. */
const JSON_DEPTH_MAX = 200
/**
 * A batch of a hundred messages with ten attributes each has four thousand. Checks take about a microsecond for each.
 * @limit Values in a request's JSON, and parameters in the Query protocol. A message that is published may have more.
 * Past it: the request is refused.
 */
export const REQUEST_VALUES_MAX = 10_000

/** JSON that exceeds a bound. The message says which. */
export class JsonBoundError extends SyntaxError {}

/** Throws a JsonBoundError before it parses anything, or the SyntaxError of JSON.parse. */
export function parseBounded(text: string, valuesMax = REQUEST_VALUES_MAX): unknown {
  if (!isFarFromBounds(text, valuesMax)) checkBounds(text, valuesMax)
  return JSON.parse(text)
}

/** From this size a native search for commas is worth more than it costs. */
const LONG_CHARS = 65_536

/**
 * Whether the text has too few brackets and commas for any bound, those within texts included. Such a text is not read
 * character by character, which costs as much as to parse it if its quotes are escaped.
 */
function isFarFromBounds(text: string, valuesMax: number): boolean {
  const { length } = text
  // Each level takes two characters, and so does each value with its comma.
  if (length <= 2 * Math.min(JSON_DEPTH_MAX, valuesMax)) return true
  const opened = countOf(text, '[', JSON_DEPTH_MAX) + countOf(text, '{', JSON_DEPTH_MAX)
  if (opened > JSON_DEPTH_MAX) return false
  return (
    length <= 2 * valuesMax || (length >= LONG_CHARS && opened + countOf(text, ',', valuesMax) < valuesMax)
  )
}

/** Stops counting past `max`. */
function countOf(text: string, char: string, max: number): number {
  let count = 0
  for (let at = text.indexOf(char); at >= 0 && count <= max; at = text.indexOf(char, at + 1)) count++
  return count
}

/** About how many values a JSON text has. */
export function countValues(text: string): number {
  return checkBounds(text, Number.POSITIVE_INFINITY)
}

/**
 * Throws a JsonBoundError if the text exceeds a bound. Returns the number of values. It finds brackets and commas
 * outside of texts, and keeps nothing of them.
 */
function checkBounds(text: string, valuesMax: number): number {
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfText(text, at)
        break
      case 0x2c: // ,
        if (++values > valuesMax) throw tooManyValues(valuesMax)
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > JSON_DEPTH_MAX)
          throw new JsonBoundError(`JSON may be nested at most ${JSON_DEPTH_MAX} deep`)
        if (++values > valuesMax) throw tooManyValues(valuesMax)
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
    }
  }
  return values
}

function tooManyValues(valuesMax: number): JsonBoundError {
  return new JsonBoundError(`JSON may have at most ${valuesMax} values`)
}

/** The place of the quote that ends the text which begins at `start`. Without one it is the end of everything. */
export function endOfText(text: string, start: number): number {
  const quote = text.indexOf('"', start + 1)
  if (quote < 0) return text.length
  if (text.charCodeAt(quote - 1) !== 0x5c) return quote
  // A text with escaped quotes has many of them. Reading each character is then faster than looking for each quote.
  for (let at = text.indexOf('\\', start + 1); at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at
    if (code === 0x5c) at++
  }
  return text.length
}

/** The value of a message's text, which has no bounds but its size. undefined: the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object in a JSON text within the bounds of requests. undefined: the text is not the JSON of such an object. */
export function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseBounded(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
