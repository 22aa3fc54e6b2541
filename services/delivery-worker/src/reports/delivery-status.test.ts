import { createHash } from 'node:crypto'
import { type AttemptResult, createMessageId } from '@fantail/contracts'
import { createHttpSender } from '@fantail/delivery'
import { createLogger } from '@fantail/runtime'
import { createMetrics, type LogRecordWords, NO_LOG_RECORDS } from '@fantail/telemetry'
import { startReceiver, waitFor } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import {
  createFakeSender,
  createMessage,
  DLQ,
  type FakeSender,
  type Fixture,
  TOPIC,
  telemetryWith,
  urlOf,
  useFixture,
} from '../fixtures/worker.fixture.ts'

const ROLE = 'arn:aws:iam::000000000000:role/feedback'
const FAILURES = { HTTPFailureFeedbackRoleArn: ROLE }
const AT_ONCE = {
  healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 2, numNoDelayRetries: 2 },
}
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const fixture = await useFixture()
let sender: FakeSender
let lines: Record<string, unknown>[]
beforeEach(() => {
  sender = createFakeSender()
  lines = []
})

const ask = (attributes: Record<string, string>) => fixture.topics.put(TOPIC, { attributes })
const records = () => lines.filter(({ msg }) => msg === 'delivery.status')

function startWorker(records = NO_LOG_RECORDS, sending: Parameters<Fixture['startWorker']>[0] = sender) {
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const log = createLogger({ service: 'test', level: 'info', destination })
  return fixture.startWorker(sending, { log, telemetry: telemetryWith(createMetrics(), records) })
}

const answered = (statusCode: number, text: string): AttemptResult => ({
  kind: 'response',
  statusCode,
  durationMs: 1,
  text,
})

test('[199] a delivery that is given up after its retries yields one FAILURE record', async () => {
  await ask(FAILURES)
  await fixture.subscribe('a', {
    endpoint: 'http://user:secret@a.example/hook?key=1',
    deliveryPolicy: AT_ONCE,
  })
  sender.answer = () => answered(503, 'out of order')
  await startWorker()
  const messageId = await fixture.publish('hello')
  await waitFor(() => records().length === 1)
  await fixture.publish('next')
  await waitFor(() => records().length === 2)
  const [record] = records()
  const { level, logGroup, notification, delivery, status } = record ?? {}
  expect({ level, logGroup, notification, delivery, status }).toEqual({
    level: 'warn',
    logGroup: 'sns/us-east-1/000000000000/orders/Failure',
    notification: {
      messageMD5Sum: createHash('md5').update('hello').digest('hex'),
      messageId,
      topicArn: TOPIC,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/),
    },
    delivery: {
      deliveryId: expect.stringMatching(UUID),
      destination: 'http://a.example/hook',
      providerResponse: 'out of order',
      dwellTimeMs: expect.any(Number),
      attempts: 3,
      statusCode: 503,
    },
    status: 'FAILURE',
  })
  expect(JSON.stringify(lines)).not.toContain('secret')
})

test.each<[string, AttemptResult | number, object]>([
  ['a permanent answer', answered(410, 'moved out'), { statusCode: 410, providerResponse: 'moved out' }],
  [
    'a permanent failure',
    { kind: 'failure', error: 'forbidden_address', detail: 'no', durationMs: 1, permanent: true },
    { providerResponse: 'forbidden_address: no' },
  ],
])('[199] so does %s to the first attempt, dead-lettered or not', async (_, answer, expected) => {
  await ask(FAILURES)
  await fixture.queues.put(DLQ, {})
  await fixture.subscribe('a')
  await fixture.subscribe('b', { redrivePolicy: { deadLetterTargetArn: DLQ } })
  sender.answer = () => answer
  await startWorker()
  await fixture.publish('hello')
  await waitFor(async () => (await fixture.queues.getWithCounts(DLQ))?.counts.visible === 1)
  await waitFor(async () => (await fixture.counts.read())['discarded:permanent'] === 1)
  const deliveries = records().map(({ delivery }) => delivery as Record<string, unknown>)
  expect(deliveries).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)])
  expect(deliveries.map(({ attempts }) => attempts)).toEqual([1, 1])
  expect('statusCode' in (deliveries[0] ?? {})).toBe('statusCode' in expected)
  expect(new Set(deliveries.map(({ deliveryId }) => deliveryId)).size).toBe(2)
})

test('[199] so does what expired and is dead-lettered unattempted', async () => {
  await ask(FAILURES)
  await fixture.topics.put(TOPIC, { retentionSeconds: 60 })
  await fixture.queues.put(DLQ, {})
  await fixture.subscribe('a', { redrivePolicy: { deadLetterTargetArn: DLQ } })
  await startWorker()
  const publishedAt = Date.now() - 61_000
  const old = { ...createMessage('old', TOPIC), messageId: createMessageId(publishedAt), publishedAt }
  await fixture.publisher.publish([old], { bytes: 300, fanOut: 1 })
  await waitFor(() => records().length === 1)
  expect(records()[0]?.delivery).toMatchObject({
    attempts: 0,
    providerResponse: expect.stringContaining('expired'),
  })
})

test('[200] a sample rate of 0 logs no successes, 100 all of them, and failures are all logged', async () => {
  await ask({ HTTPSuccessFeedbackRoleArn: ROLE, HTTPSuccessFeedbackSampleRate: '0', ...FAILURES })
  await fixture.subscribe('a')
  sender.answer = (_, n) => (n <= 20 ? answered(200, 'fine') : answered(410, ''))
  await startWorker()
  await fixture.publishAll(Array.from({ length: 20 }, (_, i) => `m${i}`))
  await waitFor(() => sender.sent.length === 20)
  await fixture.publish('refused')
  await waitFor(() => records().length > 0)
  expect(records().map(({ status }) => status)).toEqual(['FAILURE'])
  await ask({ HTTPSuccessFeedbackRoleArn: ROLE, HTTPSuccessFeedbackSampleRate: '100' })
  sender.answer = () => answered(202, 'fine')
  await fixture.publishAll(Array.from({ length: 20 }, (_, i) => `n${i}`))
  await waitFor(() => records().length === 21)
  const [, ...successes] = records()
  expect(successes.map(({ status }) => status)).toEqual(Array(20).fill('SUCCESS'))
  expect(successes[0]).toMatchObject({
    level: 'info',
    logGroup: 'sns/us-east-1/000000000000/orders',
    delivery: { providerResponse: 'fine', statusCode: 202, attempts: 1 },
  })
})

test('[200] a rate between lies between', async () => {
  await ask({ HTTPSuccessFeedbackRoleArn: ROLE, HTTPSuccessFeedbackSampleRate: '50' })
  await fixture.subscribe('a')
  await startWorker()
  const texts = Array.from({ length: 400 }, (_, i) => `m${i}`)
  for (let i = 0; i < 400; i += 50) await fixture.publishAll(texts.slice(i, i + 50))
  await waitFor(() => sender.sent.length === 400)
  await waitFor(() => records().length > 120)
  expect(records().length).toBeLessThan(280)
})

test('a queue has its own attributes', async () => {
  const queue = 'arn:aws:sqs:us-east-1:000000000000:work'
  await fixture.queues.put(queue, {})
  await fixture.topics.put(TOPIC, { attributes: { SQSSuccessFeedbackRoleArn: ROLE, ...FAILURES } })
  await fixture.subscribe('web')
  await fixture.subscribe('queue', { protocol: 'sqs', endpoint: queue })
  await startWorker()
  await fixture.publish('hello')
  await waitFor(() => records().length === 1 && sender.sent.length === 1)
  const [item] = await fixture.queues.receive(queue, { maxMessages: 1 })
  expect(records()[0]).toMatchObject({
    delivery: {
      destination: queue,
      providerResponse: `{"sqsMessageId":"${item?.messageId}"}`,
      statusCode: 200,
      attempts: 1,
    },
    status: 'SUCCESS',
  })
})

test('[315] a queue that denies the topic is logged in SQS’s words', async () => {
  const queue = 'arn:aws:sqs:us-east-1:111111111111:work'
  await fixture.queues.put(queue, {})
  await fixture.topics.put(TOPIC, { attributes: { SQSFailureFeedbackRoleArn: ROLE } })
  await fixture.subscribe('queue', { protocol: 'sqs', endpoint: queue })
  await startWorker()
  await fixture.publish('hello')
  await waitFor(() => records().length === 1)
  const delivery = records()[0]?.delivery as Record<string, unknown>
  expect(delivery).toMatchObject({ destination: queue, statusCode: 403, attempts: 1 })
  expect(delivery.providerResponse).toBe(
    '{"ErrorCode":"AccessDenied","ErrorMessage":"Access to the resource ' +
      'https://sqs.us-east-1.amazonaws.com/111111111111/work is denied.","sqsRequestId":"Unrecoverable"}',
  )
})

test('records go to OpenTelemetry too, with what a real endpoint says', async () => {
  const hooks = await startReceiver()
  hooks.respond('/hook', { status: 404, body: 'x'.repeat(5_000) })
  const emitted: LogRecordWords[] = []
  await ask(FAILURES)
  await fixture.subscribe('a', { endpoint: `${hooks.url}/hook` })
  const real = createHttpSender({ allowPrivate: true })
  await startWorker({ on: true, emit: (record) => void emitted.push(record) }, real as never)
  await fixture.publish('hello')
  await waitFor(() => emitted.length === 1)
  const { level: _, time: __, service: ___, msg, logGroup, ...body } = records()[0] ?? {}
  expect(emitted[0]).toEqual({
    event: msg,
    severity: 'warn',
    body,
    attributes: { 'aws.log.group.names': [logGroup] },
  })
  expect((body.delivery as Record<string, unknown>).providerResponse).toBe('x'.repeat(1_024))
  await hooks.close()
})

test('a topic without the attributes has no records, nor its endpoints’ answers', async () => {
  const asked: unknown[] = []
  const { send } = sender
  sender.send = (request, done) => {
    asked.push(request.textBytesMax)
    send(request, done)
  }
  await fixture.subscribe('a')
  sender.answer = (_, n) => (n === 1 ? 200 : 410)
  await startWorker()
  await fixture.publish('one')
  await fixture.publish('two')
  await waitFor(async () => (await fixture.counts.read())['discarded:permanent'] === 1)
  expect([asked, records(), urlOf('a')]).toEqual([[undefined, undefined], [], sender.sent[0]?.url])
})
