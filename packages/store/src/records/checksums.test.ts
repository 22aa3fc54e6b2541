import { createMessageId, type Message } from '@fantail/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkText, parseRecord, sumRecord, sumText } from './checksums.ts'
import { bodiesOfJob, jobText, messageBody, readMessage } from './message-bodies.ts'
import { UnreadableRecordError } from './stored-json.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 20 })
const messages: fc.Arbitrary<Message> = fc.record(
  {
    messageId: fc.nat().map((n) => createMessageId(n)),
    topicArn: text,
    publishedAt: fc.nat(),
    message: text,
    subject: text,
    attributes: fc.dictionary(text, fc.record({ type: text, value: text })),
    groupId: text,
    sequenceNumber: fc.constant('10000001732660000000'),
  },
  { requiredKeys: ['messageId', 'topicArn', 'publishedAt', 'message'] },
)
const flips = fc.record({ at: fc.nat(), bit: fc.nat(7) })

/** The result after the damage; null: the damage was noticed. */
function readDamaged<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    expect(error).toBeInstanceOf(UnreadableRecordError)
    return null
  }
}

function flipped(stored: string, { at, bit }: { at: number; bit: number }): Buffer {
  const bytes = Buffer.from(stored)
  const place = at % bytes.length
  bytes[place] = (bytes[place] ?? 0) ^ (1 << bit)
  return bytes
}

test('a stored message is read as it was, and with any flipped bit it is refused or still the same', () => {
  fc.assert(
    fc.property(messages, flips, (message, flip) => {
      const body = messageBody(message)
      const same = JSON.parse(JSON.stringify(message))
      expect(readMessage(body)).toEqual(same)
      expect([null, same]).toContainEqual(readDamaged(() => readMessage(flipped(body, flip))))
    }),
    { numRuns: 2_000 },
  )
})

test('a job holds its messages as they are, and a flipped bit damages one of them at most', () => {
  const some = fc.array(messages, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(some, flips, (given, flip) => {
      const text = jobText(given)
      const same = JSON.parse(JSON.stringify(given)) as Message[]
      expect(bodiesOfJob(text)).toEqual(given.map(messageBody))
      const bodies = readDamagedJob(flipped(text, flip).toString())
      const read = bodies?.map((body) => readDamaged(() => readMessage(body)))
      for (const [n, one] of read?.entries() ?? []) expect([null, same[n]]).toContainEqual(one)
      expect(read?.filter((one) => one === null).length ?? 0).toBeLessThanOrEqual(1)
    }),
    { numRuns: 2_000 },
  )
})

/** Null: it is noticed that this is no job. */
function readDamagedJob(text: string): string[] | null {
  try {
    return bodiesOfJob(text)
  } catch {
    return null
  }
}

test('a cut or foreign text is no message', () => {
  const body = messageBody({ messageId: createMessageId(1), topicArn: 'a', publishedAt: 1, message: 'x' })
  for (const other of ['', 'x', '{}', 'null', '{"message":"x"}', body.slice(0, -1), `${body.slice(0, -12)}}`])
    expect(readDamaged(() => readMessage(other))).toBeNull()
})

test('a record is read as it was, and with any flipped bit it is refused', () => {
  fc.assert(
    fc.property(text, text, flips, (endpoint, S, flip) => {
      const record = { e: endpoint, nested: { S }, bit: 3 }
      const summed = sumRecord(record)
      expect(JSON.parse(summed)).toMatchObject(record)
      expect(parseRecord(summed, 'key')).toEqual(record)
      expect(readDamaged(() => parseRecord(String(flipped(summed, flip)), 'key'))).toBeNull()
    }),
  )
})

test('a text with its checksum is read as it was, and with any flipped bit, or beside another value, it is refused', () => {
  fc.assert(
    fc.property(text, text, flips, (given, beside, flip) => {
      const summed = sumText(given, beside)
      expect(checkText(summed, 'key', beside)).toBe(given)
      const damaged = flipped(summed, flip).toString()
      expect(readDamaged(() => checkText(damaged, 'key', beside))).toBeNull()
      expect(readDamaged(() => checkText(summed, 'key', `${beside}x`))).toBeNull()
    }),
  )
})
