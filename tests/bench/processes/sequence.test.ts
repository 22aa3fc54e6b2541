import { expect, test } from 'vitest'
import { numberedText, readSequence, SequenceSet, writeSequence } from './sequence.ts'

test('a number is read back from wherever its text stands', () => {
  const prefix = Buffer.from('{"Type":"Notification","Message":"')
  const body = Buffer.concat([prefix, Buffer.from(numberedText(0, 100)), Buffer.from('"}')])
  for (const sequence of [0, 7, 42_000, 99_999_999]) {
    writeSequence(body, prefix.length, sequence)
    expect(readSequence(body, 0, body.length)).toBe(sequence)
    expect(body.toString('utf8', prefix.length, prefix.length + 100)).toBe(numberedText(sequence, 100))
  }
})

test('a text without a number has none', () => {
  for (const text of ['', 'no mark', '#12', '#1234567890', 'ends in #12345678']) {
    const body = Buffer.from(text)
    expect([text, readSequence(body, 0, body.length)]).toEqual([text, -1])
  }
})

test('repeated and missing deliveries do not cancel out', () => {
  const set = new SequenceSet()
  const isNew = [0, 1, 1, 500_000, -1].map((sequence) => set.add(sequence))
  expect([set.total, set.distinct]).toEqual([5, 3])
  expect(isNew).toEqual([true, true, false, true, false])
})
