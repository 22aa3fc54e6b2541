/**
 * Keeps numbers as they were written. After JSON.parse and JSON.stringify, 12345678901234567890 ends in 7000 and 1e400
 * becomes null, which would change a publisher's ids silently. Only a text with such a number is parsed a second time,
 * with a reviver that keeps the source of each number (ECMAScript's JSON.parse source text access; in Node since
 * version 21).
 */

/** An exponent, a fraction or sixteen digits: JSON.stringify may write such a number differently. */
const RISKY = /\d[.eE]|\d{16}|-0/

interface RawJson {
  rawJSON: string
}

type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown
const exactJson = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown
  rawJSON(source: string): RawJson
  isRawJSON(value: unknown): value is RawJson
}

export function mayLoseDigits(text: string): boolean {
  return RISKY.test(text)
}

/** The value, in which each number that JSON.stringify would change is replaced by its source. */
export function parseExactly(text: string): unknown {
  return exactJson.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? exactJson.rawJSON(source)
      : value,
  )
}

/** The source of a number that parseExactly has kept. undefined: the value is not such a number. */
export function sourceOf(value: unknown): string | undefined {
  return exactJson.isRawJSON(value) ? value.rawJSON : undefined
}
