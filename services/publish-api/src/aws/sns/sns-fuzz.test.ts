/** SNS's API answers every call with XML, and never with a 5xx. */
import type { Operation, Shape } from '@fantail/aws-wire'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerTo, FUZZ_TIMEOUT_MS, fuzzRuns } from '../../fixtures/fuzzing.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'
import { snsOperations } from '../aws-operations.ts'
import { queueArn, topicArn } from './sns.fixture.ts'

const WORDS = [
  '',
  'x',
  'true',
  'json',
  '{"default":"x"}',
  '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:q"}',
  '{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":2,"numRetries":3}}',
  '{"http":{"defaultThrottlePolicy":{"maxReceivesPerSecond":1}}}',
  '{"store":["a",{"prefix":"b"}]}',
  '{"a":{"b":["\\ud800"]}}',
  'https',
  'sqs',
  'email',
  'https://example.com/x',
  'a@example.com',
  'String',
  'Number.int',
  'Binary',
  'FilterPolicy',
  'FilterPolicyScope',
  'MessageBody',
  'DeliveryPolicy',
  'RawMessageDelivery',
  'RedrivePolicy',
  'DisplayName',
  'Policy',
  'FifoTopic',
  'MaximumMessageSize',
  'constructor',
  '1024',
]

let api: TestApi
let operations: Operation[]
let arns: string[]

beforeAll(async () => {
  api = await startTestApi()
  operations = snsOperations(api.deps)
  for (const name of ['orders', 'orders.fifo']) await api.deps.topics.put(topicArn(name), {})
  const { body } = await api.call('POST', '/v1/topics/orders/subscriptions', {
    body: { endpoint: 'https://example.com/' },
  })
  arns = [topicArn('orders'), topicArn('orders.fifo'), topicArn('none'), queueArn('q'), body.arn]
})

afterAll(() => api.stop())

/** All members share it, because each such arbitrary makes a table of all characters. */
const anyText = fc.string({ unit: 'binary', maxLength: 20 })

function textFor(name: string): fc.Arbitrary<string> {
  const right = fc.constantFrom(...(/Arn$/.test(name) ? arns : WORDS))
  const junk = fc.oneof(anyText, fc.constantFrom(...WORDS, ...arns))
  return fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: junk })
}

type Pairs = [string, string][]

/** A random value of this shape in a client's encoding. It is missing at times. */
function encoded(path: string, shape: Shape): fc.Arbitrary<Pairs> {
  return fc.oneof(
    { weight: 4, arbitrary: present(path, shape) },
    { weight: 1, arbitrary: fc.constant<Pairs>([]) },
  )
}

function present(path: string, shape: Shape): fc.Arbitrary<Pairs> {
  if (shape === 'blob') return fc.constantFrom('', 'aGk=', '%').map((text) => [[path, text]])
  if (shape === 'boolean') return fc.constantFrom('true', 'false', 'x').map((text) => [[path, text]])
  if (shape === 'integer') return fc.constantFrom('1', '-1', '1e9', 'x').map((text) => [[path, text]])
  if (shape === 'string') return textFor(path).map((text) => [[path, text]])
  if ('struct' in shape)
    return all(Object.entries(shape.struct).map(([name, one]) => encoded(`${path}.${name}`, one)))
  if ('list' in shape) return several((i) => encoded(`${path}.member.${i}`, shape.list))
  const { key, value } = shape.entry ?? { key: 'key', value: 'value' }
  return several((i) =>
    all([present(`${path}.entry.${i}.${key}`, 'string'), encoded(`${path}.entry.${i}.${value}`, shape.map)]),
  )
}

function several(one: (i: number) => fc.Arbitrary<Pairs>): fc.Arbitrary<Pairs> {
  return fc
    .integer({ min: 1, max: 3 })
    .chain((count) => all(Array.from({ length: count }, (_, i) => one(i + 1))))
}

function all(parts: fc.Arbitrary<Pairs>[]): fc.Arbitrary<Pairs> {
  return fc.tuple(...parts).map((pairs) => pairs.flat())
}

test('any parameters get the operation’s answer or a refusal', {
  timeout: FUZZ_TIMEOUT_MS,
}, async () => {
  const calls = fc.constantFrom(...operations).chain(({ name, input }) =>
    all(Object.entries(input).map(([member, shape]) => encoded(member, shape))).map((pairs) => ({
      name,
      pairs,
    })),
  )
  const signed = {
    authorization:
      'AWS4-HMAC-SHA256 Credential=test/20261121/us-east-1/sns/aws4_request, SignedHeaders=host, Signature=0',
  }
  await fc.assert(
    fc.asyncProperty(calls, fc.boolean(), async ({ name, pairs }, isSigned) => {
      const body = new URLSearchParams([['Action', name], ['Version', '2010-03-31'], ...pairs]).toString()
      const headers = {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...(isSigned && signed),
      }
      const { status, text } = await answerTo(name, () => api.call('POST', '/', { body, headers }))
      expect(status).toBeLessThan(500)
      expect(text).toContain(status === 200 ? `<${name}Response ` : '<Type>Sender</Type>')
    }),
    { numRuns: fuzzRuns(1_500, 0.15) },
  )
  expect(api.events.filter(({ event }) => event === 'request.failed')).toEqual([])
})
