import { expect, test } from 'vitest'
import { JsonBoundError, parseBounded } from './json-values.ts'

/** Lengths on both sides of the size from which texts are first searched for brackets. */
test.each([1_000, 100_000])('a text of %i characters may have as many values as the bound says', (length) => {
  const long = 'x'.repeat(length)
  const listed = (texts: number, text = long) => JSON.stringify([...Array(texts - 1).fill(1), text])
  // A list counts too.
  expect(parseBounded(listed(99), 100)).toHaveLength(99)
  expect(() => parseBounded(listed(100), 100)).toThrow(JsonBoundError)
  const brackets = `${long}\\${'",[{'.repeat(500)}`
  expect(parseBounded(listed(99, brackets), 100)).toHaveLength(99)
  expect(() => parseBounded(listed(100, brackets), 100)).toThrow(JsonBoundError)
})

test.each([1_000, 100_000])('a text of %i characters may be nested 200 deep', (length) => {
  const nested = (depth: number) => `${'['.repeat(depth)}"${'x'.repeat(length)}"${']'.repeat(depth)}`
  expect(() => parseBounded(nested(200))).not.toThrow()
  expect(() => parseBounded(nested(201))).toThrow('JSON may be nested at most 200 deep')
})
