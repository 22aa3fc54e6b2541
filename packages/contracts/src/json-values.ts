/** Reads JSON that other programs have written, without throwing. */

/** undefined: the text is not JSON. */
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

/** The object in a JSON text. undefined: the text is not the JSON of an object. */
export function objectOf(text: string): Record<string, unknown> | undefined {
  const value = jsonOf(text)
  return isObject(value) ? value : undefined
}
