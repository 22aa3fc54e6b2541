import { createLogger } from '@fantail/runtime'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, DLQ, TOPIC, useFixture } from '../fixtures/worker.fixture.ts'

const fixture = await useFixture()

async function startLogged(answer: () => number | Promise<number>, options: { attemptLines?: number } = {}) {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const sender = createFakeSender()
  sender.answer = answer
  await fixture.startWorker(sender, {
    log: createLogger({ service: 'test', destination }),
    ...options,
  })
  return (msg: string) => lines.filter((line) => line.msg === msg)
}

test('a discarded delivery is a warning that names topic, endpoint and status', async () => {
  const { id } = await fixture.subscribe('refusing', {
    endpoint: 'http://kept:by-whom@refusing.example/hook',
  })
  const logged = await startLogged(() => 410)
  const messageId = await fixture.publish('unwanted')
  await waitFor(() => logged('delivery.discarded').length === 1, { what: 'the line' })
  expect(logged('delivery.discarded')).toMatchObject([
    {
      level: 'warn',
      messageId,
      topicArn: TOPIC,
      subscriptionId: id,
      endpoint: expect.stringMatching(/^http:\/\/(?!.*by-whom).*refusing\.example\/hook$/),
      cause: 'permanent',
      statusCode: 410,
      error: null,
      attempts: 1,
    },
  ])
})

test('a dead letter is a warning', async () => {
  await fixture.queues.put(DLQ, {})
  const { id } = await fixture.subscribe('dead', { redrivePolicy: { deadLetterTargetArn: DLQ } })
  const logged = await startLogged(() => 404)
  await fixture.publish('dead')
  await waitFor(() => logged('delivery.dead_lettered').length === 1, { what: 'the line' })
  expect(logged('delivery.dead_lettered')).toMatchObject([
    { level: 'warn', subscriptionId: id, queueArn: DLQ, cause: 'permanent', statusCode: 404 },
  ])
})

test('a success from a lane is logged with the cause of its attempt', async () => {
  await fixture.subscribe('flaky', {
    deliveryPolicy: { healthyRetryPolicy: { numRetries: 1, numNoDelayRetries: 1 } },
  })
  const logged = await startLogged(() => (logged('delivery.attempted').length === 0 ? 503 : 200))
  await fixture.publish('again')
  await waitFor(() => logged('delivery.attempted').length === 2, { what: 'both lines' })
  const [failed, delivered] = logged('delivery.attempted')
  const { cause, delayMs } = failed ?? {}
  expect(cause).toEqual(expect.any(String))
  expect(delivered).toMatchObject({ decision: 'delivered', attempts: 2, cause, delayMs })
})

test('a first attempt that its job did not wait for is logged when it succeeds', async () => {
  await fixture.subscribe('slow')
  const late = Promise.withResolvers<number>()
  const logged = await startLogged(() => late.promise)
  const messageId = await fixture.publish('late')
  await waitFor(() => logged('dispatch.run_ended').length === 1, { what: 'the run to end' })
  late.resolve(200)
  await waitFor(() => logged('delivery.attempted').length === 1, { what: 'the line' })
  expect(logged('dispatch.run_ended')).toMatchObject([{ result: 'settled', delivered: 0, parked: 1 }])
  expect(logged('delivery.attempted')).toMatchObject([{ messageId, decision: 'delivered', attempts: 1 }])
})

test.each([
  [0, []],
  [25, ['3fff']],
  [100, ['3fff', '4000']],
])(
  'with FANTAIL_ATTEMPT_LINES=%i the log has the attempts of %j, and every end',
  async (attemptLines, expected) => {
    await fixture.subscribe('refusing', { redrivePolicy: null })
    const logged = await startLogged(() => 404, { attemptLines })
    for (const end of ['3fff', '4000'])
      await fixture.publish('refused', { messageId: `0190aaaa-0000-7000-8000-00000000${end}` })
    await waitFor(() => logged('delivery.discarded').length === 2, { what: 'both ends' })
    expect(
      logged('delivery.attempted')
        .map(({ messageId }) => String(messageId).slice(-4))
        .toSorted(),
    ).toEqual(expected)
  },
)
