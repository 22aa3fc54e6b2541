/** JSON that came from somewhere else, read without throwing. */

/** undefined where it is no JSON. */
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

/** The object that a text is the JSON of. */
export function objectOf(text: string): Record<string, unknown> | undefined {
  const value = jsonOf(text)
  return isObject(value) ? value : undefined
}
