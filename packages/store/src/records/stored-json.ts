/** Stored JSON, read with an error that names its key. */
import { isObject } from '@fantail/contracts'

/** Stored text that is not what was written there: a defect or a foreign hand, never a user's mistake. */
export class CorruptRecordError extends Error {
  readonly key: string

  constructor(key: string, cause: unknown) {
    super(`corrupt JSON in ${key}`, { cause })
    this.name = 'CorruptRecordError'
    this.key = key
  }
}

/** An object's JSON; `key` says where it is stored. */
export function parseStored(text: string, key: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CorruptRecordError(key, error)
  }
  if (isObject(value)) return value
  throw new CorruptRecordError(key, new TypeError('not an object'))
}

/** JSON of an object up to where a script appends more members. */
export function openJson(value: object): string {
  return JSON.stringify(value).slice(0, -1)
}
