/**
 * Calls every operation of SQS with nearly valid input, over both protocols. No answer is a 5xx, and all have the
 * protocol's form.
 */
import type { Operation, Shape } from '@fantail/aws-wire'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerTo, FUZZ_TIMEOUT_MS, fuzzRuns } from '../../fixtures/fuzzing.fixture.ts'
import { type Called, startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'
import { sqsOperations } from '../aws-operations.ts'

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:work'
const RUNS = 20
const ROUNDS_MORE = 3
let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
  // A long poll would wait for 20 s, which proves nothing here.
  api.deps.queueWaits = { receiveWaiting: (arn, request) => api.deps.queues.receive(arn, request) }
  for (const name of ['work', 'work.fifo']) await api.call('PUT', `/v1/queues/${name}`)
})

afterAll(() => api.stop())

/** Values that an operation may know, by the name of the member. */
const wordsFor = (name: string): string[] => {
  if (/SourceArn|DestinationArn/.test(name)) return [QUEUE, `${QUEUE}.fifo`]
  if (name === 'QueueUrl') return ['/000000000000/work', 'work.fifo']
  if (name === 'QueueName') return ['work', 'work.fifo', 'new']
  if (name === 'Label') return ['l', 'm']
  if (name === 'AWSAccountIds') return ['111111111111']
  if (name === 'Actions') return ['SendMessage', '*']
  if (name === 'DataType') return ['String', 'Number', 'Binary', 'String.Array']
  if (name === 'AttributeValue') return ATTRIBUTE_VALUES
  return ['All', 'a', '{"default":"x"}', '']
}
const ATTRIBUTE_NAMES = ['FifoQueue', 'VisibilityTimeout', 'RedrivePolicy', 'RedriveAllowPolicy', 'Policy']
const ATTRIBUTE_VALUES = ['true', '1', '', '{}', `{"deadLetterTargetArn":"${QUEUE}","maxReceiveCount":1}`]

/** All members share it, because each such arbitrary makes a table of all characters. */
const text = fc.string({ unit: 'binary', maxLength: 20 }).map((value) => value.toWellFormed())

function near(shape: Shape, name: string): fc.Arbitrary<unknown> {
  if (typeof shape === 'string') return scalar(shape, name)
  if ('list' in shape) return fc.array(near(shape.list, name), { maxLength: 3 })
  if ('struct' in shape) return record(shape.struct)
  const keys = fc.oneof(
    fc.constantFrom(...ATTRIBUTE_NAMES, 'a', 'constructor'),
    fc.string({ maxLength: 5 }).filter((key) => key !== '__proto__'),
  )
  return fc.dictionary(keys, near(shape.map, 'AttributeValue'), { maxKeys: 3 })
}

function scalar(shape: Shape, name: string): fc.Arbitrary<unknown> {
  if (shape === 'boolean') return fc.boolean()
  if (shape === 'integer') return fc.oneof(fc.integer({ min: -1, max: 20 }), fc.integer())
  if (shape === 'blob')
    return fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64'))
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...wordsFor(name)) },
    { weight: 1, arbitrary: text },
  )
}

/** Members are missing at times. */
function record(shapes: Record<string, Shape>): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.entries(shapes).map(([name, shape]) => [
    name,
    fc.option(near(shape, name), { nil: undefined, freq: 2 }),
  ])
  return fc
    .record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>)
    .map((values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)))
}

/** Pairs as clients of AWS Query write them. */
function pairs(path: string, shape: Shape, value: unknown): [string, string][] {
  if (typeof shape === 'string') return [[path, String(value)]]
  if ('struct' in shape) return structPairs(`${path}.`, shape.struct, value as Record<string, unknown>)
  if ('list' in shape) {
    const prefix = shape.flat === undefined ? `${path}.member` : path
    return (value as unknown[]).flatMap((item, i) => pairs(`${prefix}.${i + 1}`, shape.list, item))
  }
  const { key, value: valueName } = shape.entry ?? { key: 'key', value: 'value' }
  const prefix = shape.flat === undefined ? `${path}.entry` : path
  return Object.entries(value as object).flatMap(([name, item], i) => [
    [`${prefix}.${i + 1}.${key}`, name] as [string, string],
    ...pairs(`${prefix}.${i + 1}.${valueName}`, shape.map, item),
  ])
}

function structPairs(prefix: string, shapes: Record<string, Shape>, values: object): [string, string][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const shape = shapes[name] as Shape
    const wire = typeof shape === 'object' && 'flat' in shape ? shape.flat : undefined
    return pairs(prefix + (wire ?? name), shape, value)
  })
}

function byQuery({ name, input }: Operation, values: object): Promise<Called> {
  const parameters = [['Action', name], ['Version', '2012-11-05'], ...structPairs('', input, values)]
  return api.call('POST', '/', {
    body: new URLSearchParams(parameters as [string, string][]).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
}

function byJson({ name }: Operation, values: object): Promise<Called> {
  const headers = { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': `AmazonSQS.${name}` }
  return api.call('POST', '/', { body: JSON.stringify(values), headers })
}

const ERROR = /<Error><Type>Sender<\/Type><Code>[\w.]+<\/Code><Message>[^<]*<\/Message>/

function checkRefusal({ text, headers }: Called): void {
  if (headers.get('content-type') === 'text/xml') {
    expect(text).toMatch(ERROR)
    return
  }
  expect(JSON.parse(text)).toEqual({ __type: expect.stringContaining('#'), message: expect.any(String) })
  expect(headers.get('x-amzn-query-error')).toMatch(/^[\w.]+;Sender$/)
}

test('[195] any input gets no 5xx and no 429, in its protocol’s shape', {
  timeout: FUZZ_TIMEOUT_MS,
}, async () => {
  const done = new Set<string>()
  const wires = sqsOperations(api.deps).flatMap((operation) => [
    { operation, protocol: byQuery },
    { operation, protocol: byJson },
  ])
  const callAll = async () => {
    for (const { operation, protocol } of wires) {
      const property = fc.asyncProperty(record(operation.input), async (values) => {
        // The others need the queues.
        if (operation.name === 'DeleteQueue' && 'QueueUrl' in values) return
        const answer = await answerTo(operation.name, () => protocol(operation, values))
        expect(answer.status).toBeLessThan(500)
        expect(answer.status).not.toBe(429)
        expect(answer.headers.get('x-amzn-requestid')).toMatch(/^\S+$/)
        if (answer.status === 200) done.add(operation.name)
        else checkRefusal(answer)
      })
      await fc.assert(property, { numRuns: fuzzRuns(RUNS, 0.15 / wires.length) })
    }
  }
  await callAll()
  // Chance decides which calls succeed, so a round with few of them is followed by others.
  for (let more = 0; done.size <= 12 && more < ROUNDS_MORE; more++) await callAll()
  expect(api.events.filter(({ event }) => event === 'request.failed')).toEqual([])
  // Enough calls must succeed. Input that always fails the first check would prove little.
  expect(done.size).toBeGreaterThan(12)
})
