/** Tests batches that invoke a function. */
import type { AttemptResult, PushConsumerRecord, QueueMessage } from '@fantail/contracts'
import { createFunctionCalls, createHttpSender } from '@fantail/delivery'
import { type Receiver, type Reply, startReceiver } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import { judgeBatch } from './batch-answer.ts'
import { requestBatch } from './push-request.ts'

const URL_OF_FUNCTION = 'arn:aws:lambda:us-east-1:000000000000:function:worker'
const MESSAGES = ['a', 'b'].map((messageId) => ({ messageId }) as QueueMessage)

let receiver: Receiver | undefined
const sender = createHttpSender({ allowPrivate: false, timeoutMs: 5_000 })

afterEach(async () => {
  await receiver?.close()
})

async function invoke(reply: Reply, set: Partial<PushConsumerRecord> = {}) {
  receiver = await startReceiver()
  receiver.respond(() => true, reply)
  const functions = createFunctionCalls({ sender, clock: Date.now }, { functions: { worker: receiver.url } })
  const record = { url: URL_OF_FUNCTION, timeoutSeconds: 5, ...set } as PushConsumerRecord
  const signal = AbortSignal.timeout(60_000)
  const request = { record, body: '{"Records":[]}', traceparent: undefined, signal }
  const reported = await requestBatch({ sender, functions, vault: undefined }, request)
  const judged = { ...reported, messages: MESSAGES, reportsFailures: true, inOrder: false }
  const { done, failure } = judgeBatch(judged)
  return { done: done.map(({ messageId }) => messageId).join(''), failure, result: reported.result }
}

test('a function is invoked so that its answer is waited for', async () => {
  expect(await invoke({ body: 'null' })).toMatchObject({ done: 'ab', failure: null })
  expect(receiver?.requests).toMatchObject([
    { headers: { 'x-amz-invocation-type': 'RequestResponse' }, text: '{"Records":[]}' },
  ])
})

test('a function may name messages that failed', async () => {
  const body = '{"batchItemFailures":[{"itemIdentifier":"a"}]}'
  expect(await invoke({ body })).toMatchObject({ done: 'b', failure: null })
})

test.each<[string, Reply, string]>([
  ['an error in the body', { body: '{"errorType":"E","errorMessage":"no"}' }, 'E: no'],
  ['an error in the header', { headers: { 'x-amz-function-error': 'Unhandled' }, body: '{}' }, 'Unhandled'],
  ['a 202', { status: 202 }, 'answered 202: the function has not run yet'],
  ['a 204', { status: 204 }, 'answered 204: the function has not run yet'],
  ['a throttle', { status: 429 }, 'answered 429'],
  ['a 404', { status: 404 }, 'answered 404'],
  ['refused credentials', { status: 401 }, 'misconfigured: 401 refused'],
  ['an answer that cannot be read', { body: 'done' }, 'its answer is not JSON'],
])('%s keeps the batch', async (_, reply, failure) => {
  const kept = await invoke(reply)
  expect([kept.done, kept.failure?.replace(/127\.0\.0\.1:\d+/, '…')]).toEqual(['', failure])
})

test('a time-out keeps the batch', async () => {
  const { done, failure } = await invoke({ hang: 'beforeHeaders' }, { timeoutSeconds: 0.05 })
  expect([done, failure]).toEqual(['', 'timeout: no answer within 50 ms'])
})

test('without settings for functions the batch stays', async () => {
  const record = { url: URL_OF_FUNCTION, timeoutSeconds: 5 } as PushConsumerRecord
  const request = { record, body: '', traceparent: undefined, signal: AbortSignal.timeout(60_000) }
  const { result } = await requestBatch({ sender, functions: undefined, vault: undefined }, request)
  expect(result).toMatchObject({
    kind: 'misconfigured',
    credential: 'FANTAIL_FUNCTIONS',
  } satisfies Partial<AttemptResult>)
})
