/** Attributes that are JSON documents. */
import { parseBounded } from '@fantail/contracts'
import type { Refuse } from './refusals.ts'

export function parseJsonAttribute(name: string, text: string, refuse: Refuse): unknown {
  try {
    return parseBounded(text)
  } catch (error) {
    throw refuse(`${name}: failed to parse JSON. ${(error as Error).message}`)
  }
}
