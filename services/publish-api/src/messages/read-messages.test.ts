import type { FantailError, Problem } from '@fantail/contracts'
import { BatchInput, MessageInput } from '@fantail/contracts/schemas/messages/message-schemas'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readMessages } from './read-messages.ts'

const LONG = 'x'.repeat(100)

/** Invalid bodies and their errors. Each row is one kind of invalid input. */
const BAD: [what: string, body: unknown, code: string, paths: string[]][] = [
  ['no object', 5, 'validation_failed', ['']],
  ['an array', [{ message: 'x' }], 'validation_failed', ['']],
  ['no message', {}, 'validation_failed', ['message']],
  ['an empty message', { message: '' }, 'validation_failed', ['message']],
  ['a number for a message', { message: 1 }, 'validation_failed', ['message']],
  ['null for a message', { message: null }, 'validation_failed', ['message']],
  ['half a surrogate pair', { message: '\ud800' }, 'validation_failed', ['message']],
  ['an unknown member', { message: 'x', body: 'y' }, 'validation_failed', ['body']],
  ['an empty subject', { message: 'x', subject: '' }, 'validation_failed', ['subject']],
  ['a subject of 100 characters', { message: 'x', subject: LONG }, 'validation_failed', ['subject']],
  ['a line break in the subject', { message: 'x', subject: 'a\nb' }, 'validation_failed', ['subject']],
  [
    'a control character in the subject',
    { message: 'x', subject: 'a\u0085b' },
    'validation_failed',
    ['subject'],
  ],
  ['a source id that is no UUID', { message: 'x', sourceId: 'a' }, 'validation_failed', ['sourceId']],
  ['a number for a subject', { message: 'x', subject: 1 }, 'validation_failed', ['subject']],
  ['null for a subject', { message: 'x', subject: null }, 'validation_failed', ['subject']],
  ['another structure', { message: 'x', structure: 'xml' }, 'validation_failed', ['structure']],
  ['structure json without JSON', { message: 'x', structure: 'json' }, 'validation_failed', ['message']],
  [
    'structure json without default',
    { message: '{"http":"x"}', structure: 'json' },
    'validation_failed',
    ['message'],
  ],
  [
    'structure json of an array',
    { message: ['default'], structure: 'json' },
    'validation_failed',
    ['message'],
  ],
  ['attributes that are no object', { message: 'x', attributes: [] }, 'validation_failed', ['attributes']],
  ['an attribute of null', { message: 'x', attributes: { a: null } }, 'validation_failed', ['attributes.a']],
  [
    'an attribute that mixes',
    { message: 'x', attributes: { a: ['b', 1] } },
    'validation_failed',
    ['attributes.a'],
  ],
  ['an empty attribute', { message: 'x', attributes: { a: '' } }, 'validation_failed', ['attributes.a']],
  ['a bad name', { message: 'x', attributes: { 'a b': 'c' } }, 'validation_failed', ['attributes.a b']],
  [
    'a name with a dot at its end',
    { message: 'x', attributes: { 'a.': 'c' } },
    'validation_failed',
    ['attributes.a.'],
  ],
  [
    'a name with two dots',
    { message: 'x', attributes: { 'a..b': 'c' } },
    'validation_failed',
    ['attributes.a..b'],
  ],
  [
    'a reserved name',
    { message: 'x', attributes: { 'aWs.b': 'c' } },
    'validation_failed',
    ['attributes.aWs.b'],
  ],
  [
    'another name of text messages',
    { message: 'x', attributes: { 'AWS.SNS.SMS.Sender': 'Shop' } },
    'validation_failed',
    ['attributes.AWS.SNS.SMS.Sender'],
  ],
  [
    'values that SNS’s names do not take',
    {
      message: 'x',
      attributes: {
        'AWS.SNS.SMS.SenderID': '12345',
        'AWS.SNS.SMS.SMSType': { type: 'String', value: 'Urgent' },
        'AWS.SNS.SMS.MaxPrice': -1,
        'AWS.SNS.MOBILE.GCM.TTL': '1.5',
      },
    },
    'validation_failed',
    [
      'attributes.AWS.SNS.SMS.SenderID',
      'attributes.AWS.SNS.SMS.SMSType.value',
      'attributes.AWS.SNS.SMS.MaxPrice',
      'attributes.AWS.SNS.MOBILE.GCM.TTL',
    ],
  ],
  [
    'a long name',
    { message: 'x', attributes: { [LONG.repeat(3)]: 'c' } },
    'validation_failed',
    [`attributes.${LONG.repeat(3)}`],
  ],
  [
    'an unknown type',
    { message: 'x', attributes: { a: { type: 'Text', value: 'b' } } },
    'validation_failed',
    ['attributes.a.type'],
  ],
  [
    'a number that is none',
    { message: 'x', attributes: { a: { type: 'Number', value: 'b' } } },
    'validation_failed',
    ['attributes.a.value'],
  ],
  [
    'base64 that is none',
    { message: 'x', attributes: { a: { type: 'Binary', value: 'b' } } },
    'validation_failed',
    ['attributes.a.value'],
  ],
  [
    'a third member',
    { message: 'x', attributes: { a: { type: 'String', value: 'b', c: 1 } } },
    'validation_failed',
    ['attributes.a'],
  ],
  ['no messages', { messages: [] }, 'validation_failed', ['messages']],
  ['messages that are no array', { messages: {} }, 'validation_failed', ['messages']],
  [
    '101 messages',
    { messages: Array.from({ length: 101 }, () => ({ message: 'x' })) },
    'validation_failed',
    ['messages'],
  ],
  [
    'a batch with a member beside it',
    { messages: [{ message: 'x' }], subject: 's' },
    'validation_failed',
    ['subject'],
  ],
  [
    'two bad entries',
    { messages: [{ message: 1 }, { message: 'x' }, { subject: '' }] },
    'validation_failed',
    ['messages[0].message', 'messages[2].message', 'messages[2].subject'],
  ],
  ['an empty group', { message: 'x', groupId: '' }, 'validation_failed', ['groupId']],
  ['a group with a space', { message: 'x', groupId: 'a b' }, 'validation_failed', ['groupId']],
  [
    'a long deduplication id in a batch',
    { messages: [{ message: 'x' }, { message: 'y', deduplicationId: 'd'.repeat(129) }] },
    'validation_failed',
    ['messages[1].deduplicationId'],
  ],
  ['too many bytes', { message: 'é'.repeat(131_073) }, 'too_large', ['message']],
  [
    'too many bytes in a batch',
    { messages: [{ message: 'x' }, { message: 'y'.repeat(262_145) }] },
    'too_large',
    ['messages[1].message'],
  ],
]

test.each(BAD)('refuses %s', (_what, body, code, paths) => {
  const error = refusal(JSON.stringify(body))
  expect(error?.code).toBe(code)
  expect(error?.details?.map(({ path }: Problem) => path)).toEqual(paths)
})

test('lists every problem at once', () => {
  const error = refusal(
    JSON.stringify({ message: '', subject: '', attributes: { 'a..b': '', c: 1 }, structure: 'x', y: 1 }),
  )
  expect(error?.details?.map(({ path }: Problem) => path)).toEqual([
    'message',
    'subject',
    'attributes.a..b',
    'attributes.a..b',
    'structure',
    'y',
  ])
})

test('refuses text that is no JSON, and JSON that is nested too deeply', () => {
  expect(refusal('{"message":')?.code).toBe('malformed_json')
  expect(refusal('')?.code).toBe('malformed_json')
  const deep = (depth: number, inner: string) =>
    `{"message":${'['.repeat(depth)}${inner}${']'.repeat(depth)}}`
  for (const inner of ['', '1.50']) {
    for (const depth of [200, 400_000]) {
      expect(refusal(deep(depth, inner))).toMatchObject({
        code: 'malformed_json',
        message: 'JSON may be nested at most 200 deep',
      })
    }
    expect(readMessages(deep(199, inner)).messages[0]?.message).toBe(deep(199, inner).slice(11, -1))
  }
})

test('takes a message of any number of values, and bounds those around it', () => {
  const message = Array.from({ length: 20_000 }, (_, i) => i)
  expect(readMessages(JSON.stringify({ message })).messages[0]?.message).toBe(JSON.stringify(message))
  for (const text of [{ message, attributes: { a: message } }, { messages: [{ message }, { a: message }] }]) {
    expect(refusal(JSON.stringify(text))).toMatchObject({
      code: 'malformed_json',
      message: 'JSON may have at most 10000 values',
    })
  }
})

test('an attribute called __proto__ is refused and changes no object', () => {
  const error = refusal('{"message":"x","attributes":{"__proto__":"y"}}')
  expect(error?.details?.[0]?.path).toBe('attributes.__proto__')
  expect(Object.prototype).not.toHaveProperty('type')
})

/** Values that are nearly valid, so that many are accepted and many are refused. */
const text = fc.constantFrom('x', '', 'a\nb', '{"default":"d"}', '\ud800', 'é')
const attribute = fc.oneof(
  text,
  fc.double(),
  fc.array(text),
  fc.record({
    type: fc.constantFrom('String', 'Number', 'Binary', 'X'),
    value: fc.constantFrom('1', 'aGk=', ''),
  }),
  fc.constant(null),
)
const message = fc.record(
  {
    message: fc.oneof(text, fc.jsonValue()),
    subject: fc.oneof(text, fc.constant(1)),
    attributes: fc.oneof(
      fc.dictionary(fc.constantFrom('a', 'a.b', '.a', 'AWS.x', '__proto__'), attribute),
      fc.constant(1),
    ),
    structure: fc.constantFrom('json', 'xml'),
    groupId: fc.constantFrom('g', 'g-1/!', '', 'a b', 1),
    deduplicationId: fc.constantFrom('d', 'é', null),
    extra: fc.constant(1),
  },
  { requiredKeys: ['message'] },
)

test('the fast check and the schemas accept the same bodies', () => {
  const bodies = fc.oneof(
    message,
    fc.record({ messages: fc.array(message, { maxLength: 3 }) }),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(bodies, (body) => {
      const json = JSON.stringify(body)
      const value: unknown = JSON.parse(json)
      const batch =
        typeof value === 'object' && value !== null && !Array.isArray(value) && 'messages' in value
      const valid = (batch ? BatchInput : MessageInput).safeParse(value).success
      const error = refusal(json)
      expect(error === undefined).toBe(valid)
      if (error) expect(error.details?.length).toBeGreaterThan(0)
    }),
    { numRuns: 2_000 },
  )
})

function refusal(json: string): FantailError | undefined {
  try {
    readMessages(json)
    return undefined
  } catch (error) {
    return error as FantailError
  }
}
