/**
 * Numbers as they were written. JSON.parse makes 12345678901234567890 end in 7000 and 1e400 become null again, which
 * would change a publisher's ids without a word. Only a text that has such a number is parsed a second time, by a
 * reviver that keeps each source (ECMAScript's JSON.parse source text access; in Node since version 21).
 */

/** An exponent, a fraction or sixteen digits: what JSON.stringify might write in another way. */
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

/** The value with every number that JSON.stringify would write otherwise standing as its source. */
export function parseExactly(text: string): unknown {
  return exactJson.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? exactJson.rawJSON(source)
      : value,
  )
}

/** How a number was written, where parseExactly kept it. */
export function sourceOf(value: unknown): string | undefined {
  return exactJson.isRawJSON(value) ? value.rawJSON : undefined
}
