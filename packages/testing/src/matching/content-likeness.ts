/**
 * Compares received content with the content that a test expects. Asymmetric matchers of vitest and jest may be used.
 */

interface Asymmetric {
  asymmetricMatch(actual: unknown): boolean
}

/** Whether the content is as expected. Objects may have further members. Lists must have the same length. */
export function isLike(actual: unknown, expected: unknown): boolean {
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual)
  if (expected instanceof RegExp) return typeof actual === 'string' && expected.test(actual)
  if (Array.isArray(expected)) {
    const isSameLength = Array.isArray(actual) && actual.length === expected.length
    return isSameLength && expected.every((item, index) => isLike(actual[index], item))
  }
  if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected)
  if (typeof actual !== 'object' || actual === null) return false
  const members = actual as Record<string, unknown>
  return Object.entries(expected).every(([name, value]) => isLike(members[name], value))
}

function isAsymmetric(value: unknown): value is Asymmetric {
  return typeof (value as Partial<Asymmetric> | null | undefined)?.asymmetricMatch === 'function'
}
