/** Reads stored JSON. Errors name its key. */
import { isObject } from '@fantail/contracts'

/** The stored text is not one that Fantail wrote there. A defect or another program is the cause, never a user. */
export class UnreadableRecordError extends Error {
  readonly key: string
  /** The stored text, for an operator. Logs do not show it, because it may hold secrets. */
  readonly #text: string

  constructor(key: string, cause: unknown, text = '') {
    super(`unreadable JSON in ${key}`, { cause })
    this.name = 'UnreadableRecordError'
    this.key = key
    this.#text = text
  }

  get text(): string {
    return this.#text
  }
}

/** Parses the JSON of an object. `key`: where it is stored. */
export function parseStored(text: string, key: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new UnreadableRecordError(key, error, text)
  }
  if (isObject(value)) return value
  throw new UnreadableRecordError(key, new TypeError('not an object'), text)
}

/** The JSON of an object without its end. A script appends more members. */
export function openJson(value: object): string {
  return JSON.stringify(value).slice(0, -1)
}
