import { RETRY_CAUSES, type StoredWhy, WAIT_CAUSES } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { packWhy, unpackWhy } from './why-codes.ts'

const causes = Object.keys({ ...RETRY_CAUSES, ...WAIT_CAUSES }) as StoredWhy['cause'][]

test('every stored cause has a unique letter', () => {
  const letters = causes.map((cause) => packWhy({ cause, delayMs: null }))
  expect(new Set(letters).size).toBe(causes.length)
  expect(letters.every((letter) => /^[a-z]$/.test(letter))).toBe(true)
})

test.each(causes.flatMap((cause) => [null, 0, 7_000, 3_600_000].map((delayMs) => ({ cause, delayMs }))))(
  '$because after $delayMs ms is read as it was stored',
  (why) => {
    expect(unpackWhy(packWhy(why))).toEqual(why)
  },
)

test('a code that this release does not know is no cause', () => {
  for (const text of ['', 'z', 'zfff', '7', 'B1', 'b-1']) expect(unpackWhy(text)).toBeUndefined()
})
