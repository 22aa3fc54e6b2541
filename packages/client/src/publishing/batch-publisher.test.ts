import { expect, test } from 'vitest'
import { FantailError } from '../failures/client-error.ts'
import type { MessageInput } from '../generated/index.ts'
import { BatchPublisher, type BatchPublisherOptions } from './batch-publisher.ts'

interface Request {
  messages: unknown[]
  answer(): void
  fail(error: unknown): void
}

/** A publisher to a topic. The test answers its requests. */
function publisherOf(options: BatchPublisherOptions, topic = 'orders') {
  const requests: Request[] = []
  const publishAll = (messages: readonly MessageInput[]) =>
    new Promise<{ messageId: string }[]>((resolve, reject) => {
      const contents = messages.map(({ message }) => message)
      const answer = () => resolve(contents.map((content) => ({ messageId: `id of ${content}` })))
      requests.push({ messages: contents, answer, fail: reject })
    })
  return { publisher: new BatchPublisher({ topic, publishAll }, options), requests }
}

const settled = async () => {
  for (let n = 0; n < 20; n++) await Promise.resolve()
}

test('messages share requests of maxMessages, and each gets its own receipt', async () => {
  const { publisher, requests } = publisherOf({ maxMessages: 2, lingerMs: 60_000 })
  const receipts = ['a', 'b', 'c', 'd', 'e'].map((message) => publisher.publish(message))
  expect(requests.map(({ messages }) => messages)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
  const closed = publisher.close()
  for (const request of requests) request.answer()
  await settled()
  await closed
  expect(requests[2]?.messages).toEqual(['e'])
  expect((await Promise.all(receipts)).map(({ messageId }) => messageId)).toEqual(
    ['a', 'b', 'c', 'd', 'e'].map((message) => `id of ${message}`),
  )
  await expect(publisher.publish('f')).rejects.toMatchObject({ code: 'closed' })
})

test('a batch that is not full is sent after lingerMs', async () => {
  const { publisher, requests } = publisherOf({ lingerMs: 1 })
  const receipt = publisher.publish('a')
  expect(requests.length).toBe(0)
  await expect.poll(() => requests.length).toBe(1)
  requests[0]?.answer()
  expect(await receipt).toEqual({ messageId: 'id of a' })
})

test('ready() waits while maxPending messages are without a receipt', async () => {
  const { publisher, requests } = publisherOf({ maxMessages: 1, maxPending: 2 })
  void publisher.publish('a')
  await publisher.ready()
  void publisher.publish('b')
  let isReady = false
  const ready = publisher.ready().then(() => {
    isReady = true
  })
  await settled()
  expect([isReady, publisher.pending]).toEqual([false, 2])
  requests[0]?.answer()
  await ready
  expect(publisher.pending).toBe(1)
  void publisher.publish('c')
  const controller = new AbortController()
  const waiting = publisher.ready(controller.signal)
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'aborted' })
})

test('a FIFO topic gets one request at a time, others up to maxRequests', () => {
  const many = (topic: string) => {
    const { publisher, requests } = publisherOf({ maxMessages: 1 }, topic)
    for (let n = 0; n < 10; n++) void publisher.publish('x', { groupId: 'g' })
    return requests.length
  }
  expect([many('orders'), many('orders.fifo')]).toEqual([4, 1])
})

test('a wrong message is rejected by itself, and the others are sent again in their order', async () => {
  const { publisher, requests } = publisherOf({ maxMessages: 3, maxRequests: 1 })
  const results = Promise.allSettled(['a', 'b', 'c'].map((message) => publisher.publish(message)))
  const details = [{ path: 'messages[1].subject', message: 'is too long' }]
  requests[0]?.fail(new FantailError('validation_failed', 'wrong', { status: 400, details }))
  await expect.poll(() => requests.length).toBe(2)
  expect(requests[1]?.messages).toEqual(['a', 'c'])
  requests[1]?.answer()
  const [a, b, c] = await results
  expect([a, c]).toMatchObject([
    { status: 'fulfilled', value: { messageId: 'id of a' } },
    { status: 'fulfilled', value: { messageId: 'id of c' } },
  ])
  expect(b).toMatchObject({
    status: 'rejected',
    reason: { code: 'validation_failed', details: [{ path: 'subject', message: 'is too long' }] },
  })
})

test('a failed request rejects all of its messages, and close() with the failure', async () => {
  const { publisher, requests } = publisherOf({ lingerMs: 60_000 })
  const results = Promise.allSettled(['a', 'b'].map((message) => publisher.publish(message)))
  const closed = publisher.close()
  const error = new FantailError('storage_unavailable', 'down', { status: 503, retryable: true })
  requests[0]?.fail(error)
  await expect(closed).rejects.toBe(error)
  expect((await results).map((result) => result.status === 'rejected' && result.reason)).toEqual([
    error,
    error,
  ])
})

test('a message whose signal aborts is not sent, or is rejected while it is sent', async () => {
  const { publisher, requests } = publisherOf({ maxMessages: 2, lingerMs: 60_000 })
  const controller = new AbortController()
  const dropped = publisher.publish('a', { signal: controller.signal })
  controller.abort()
  await expect(dropped).rejects.toMatchObject({ code: 'aborted' })
  void publisher.publish('b')
  void publisher.publish('c')
  expect(requests.map(({ messages }) => messages)).toEqual([['b', 'c']])
})

test('a request stays below the bytes that the API takes', () => {
  const { publisher, requests } = publisherOf({ maxMessages: 100, lingerMs: 0, maxRequests: 1 })
  const big = 'x'.repeat(250_000)
  void publisher.publish('first')
  for (let n = 0; n < 8; n++) void publisher.publish(big)
  requests[0]?.answer()
  return expect.poll(() => requests[1]?.messages.length).toBe(3)
})

test.each([{ maxMessages: 0 }, { maxMessages: 101 }, { lingerMs: -1 }, { maxPending: 0.5 }])(
  '%j is refused',
  (options) => {
    expect(() => publisherOf(options)).toThrow(/must be a whole number/)
  },
)
