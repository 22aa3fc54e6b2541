/** Text of a field that may be JSON. */

type JsonOrText = string | unknown[] | Record<string, unknown>

/**
 * An object or a list, or else the text itself. Text with numbers that JavaScript cannot hold exactly stays text,
 * because they would change.
 */
export function jsonOrText(text: string): JsonOrText {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !/\d{16}/.test(text) ? (value as JsonOrText) : text
  } catch {
    return text
  }
}

/** undefined: the text is no JSON object. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  const value = jsonOrText(text)
  return typeof value === 'object' && !Array.isArray(value) ? value : undefined
}
