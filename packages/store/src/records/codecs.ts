/** How the value of a field is stored. A field without a codec is stored in JSON as it is. */
import { checkText, sumText } from './checksums.ts'

/** Converts a member's value to its stored form and back. `encode` returns undefined if nothing must be stored. */
export interface Codec<T> {
  encode(value: T): unknown
  decode(stored: unknown): T
}

/** One of two values. The second is stored as 1, the first is not stored. */
export function eitherOf<T>(first: T, second: T): Codec<T> {
  return {
    encode: (value) => (value === second ? 1 : undefined),
    decode: (stored) => (stored === 1 ? second : first),
  }
}

export const FLAG: Codec<boolean> = eitherOf<boolean>(false, true)

/** A member that is absent unless it is true. */
export const TRUE_OR_ABSENT: Codec<true> = {
  encode: (value) => (value ? 1 : undefined),
  decode: () => true,
}

/** An object or a list. An empty one is not stored. */
export function unlessEmpty<T extends object>(): Codec<T> {
  return {
    encode: (value) => (Object.keys(value).length === 0 ? undefined : value),
    decode: (stored) => stored as T,
  }
}

/** Numbers in a hash, whose values are texts. */
export const HASH_NUMBER: Codec<number> = {
  encode: (value) => value,
  decode: (stored) => Number(stored),
}

/** Numbers by commas. */
export const HASH_NUMBERS: Codec<number[]> = {
  encode: (values) => values.join(','),
  decode: (stored) => String(stored).split(',').map(Number),
}

/** JSON that is stored with its checksum. */
export function summedJson<T>(): Codec<T> {
  return {
    encode: (value) => sumText(JSON.stringify(value)),
    decode: (stored) => JSON.parse(checkText(String(stored), 'a record')) as T,
  }
}
