import type { AttemptResult, PushConsumerRecord, QueueMessage } from '@fantail/contracts'
import { FantailError } from '@fantail/contracts'
import { type HttpRequest, keepPushConsumer } from '@fantail/delivery'
import { createLogger } from '@fantail/runtime'
import type { HandleResult } from '@fantail/store'
import { createMetrics, NO_SPANS } from '@fantail/telemetry'
import { createMasterKeyText, createVault, parseMasterKey, type Vault } from '@fantail/vault'
import { expect, test } from 'vitest'
import { createPushConsumerMetrics, pushBatch } from './push-batch.ts'

const RECORD: PushConsumerRecord = {
  name: 'hook',
  queueArn: 'arn:aws:sqs:us-east-1:000000000000:jobs',
  url: 'http://hook.example/',
  batchSize: 10,
  batchWindowSeconds: 0,
  concurrency: 1,
  timeoutSeconds: 7,
  enabled: true,
  reportBatchItemFailures: false,
  revision: '1',
  createdAt: 0,
  modifiedAt: 0,
}

const messages = (count: number): QueueMessage[] =>
  Array.from({ length: count }, (_, i) => ({
    messageId: `m${i}`,
    receiptHandle: `h${i}`,
    receiveCount: 1,
    body: 'x',
    attributes: {},
    sentAt: 0,
    firstReceivedAt: 0,
  }))

/** An endpoint that answers 200, and a queue whose deletions have these results, one after the other. */
function push(
  count: number,
  deletions: (() => HandleResult)[],
  given: Partial<Parameters<typeof pushBatch>[1]> = {},
  vault?: Vault,
) {
  const asked: string[][] = []
  const requests: HttpRequest[] = []
  const metrics = createMetrics()
  const tools = {
    queues: {
      ack: async (_: string, handles: string[]) => {
        asked.push(handles)
        const result = (deletions.shift() ?? (() => ({ ok: true }) as const))()
        return handles.map(() => result)
      },
    },
    sender: {
      send: (request: HttpRequest, done: (result: AttemptResult) => void) => {
        requests.push(request)
        done({ kind: 'response', statusCode: 200, durationMs: 40 })
      },
    },
    functions: undefined,
    metrics: createPushConsumerMetrics(metrics),
    vault,
    spans: NO_SPANS,
    log: createLogger({ service: 'test', level: 'silent' }),
  }
  const batch = {
    record: RECORD,
    batch: 'b',
    messages: messages(count),
    hiddenUntil: performance.now() + 5_000,
  }
  const done = pushBatch(tools, { ...batch, signal: new AbortController().signal, ...given })
  const counted = (result: string) =>
    metrics.pushConsumerMessages.of({ queue: 'jobs', consumer: 'hook', result }).value
  return { done, asked, requests, counted }
}

function fail(error: Error): () => HandleResult {
  return () => {
    throw error
  }
}
const away = fail(new Error('Connection is closed.'))

test('the request carries the consumer’s deadline and reads no body without need', async () => {
  const { done, requests } = push(1, [])
  expect(await done).toBe('accepted')
  expect(requests).toMatchObject([{ url: RECORD.url, timeoutMs: 7_000 }])
  expect(requests[0]).not.toHaveProperty('responseBytesMax')
  const reporting = push(1, [], { record: { ...RECORD, reportBatchItemFailures: true } })
  await reporting.done
  expect(reporting.requests).toMatchObject([{ responseBytesMax: 262_144 }])
})

test('while Redis is away deletions are tried again, each hundred until it is done', async () => {
  const { done, asked, counted } = push(250, [away, () => ({ ok: true }), away])
  expect(await done).toBe('accepted')
  expect(asked.map((handles) => [handles[0], handles.length])).toEqual([
    ['h0', 100],
    ['h0', 100],
    ['h100', 100],
    ['h100', 100],
    ['h200', 50],
  ])
  expect([counted('deleted'), counted('returned')]).toEqual([250, 0])
})

test('they are given up when others may have the messages, and when the process stops', async () => {
  const late = push(1, [away, away], { hiddenUntil: performance.now() - 1 })
  expect(await late.done).toBe('accepted')
  const stopping = push(1, [away, away], { signal: AbortSignal.abort() })
  await stopping.done
  expect([late.asked.length, stopping.asked.length]).toEqual([1, 1])
  expect([late.counted('returned'), stopping.counted('returned')]).toEqual([1, 1])
})

test('in a deleted queue nothing is left to delete', async () => {
  const { done, asked } = push(150, [fail(new FantailError('not_found', 'no such queue'))])
  await done
  expect(asked).toHaveLength(1)
})

test('a sealed URL is opened for the request, and without its key nothing is sent', async () => {
  const key = parseMasterKey(createMasterKeyText())
  const vault = key && createVault([key])
  const url = 'https://user:s3cret@hook.example/'
  const record = { ...RECORD, ...keepPushConsumer({ url }, RECORD, vault) }
  const keyless = push(1, [], { record })
  expect(await keyless.done).toBe('misconfigured')
  expect(keyless.requests).toEqual([])
  const opened = push(1, [], { record: { ...record } }, vault)
  expect(await opened.done).toBe('accepted')
  expect(opened.requests).toMatchObject([{ url }])
})

test('its own headers, certificate and proxy go with the request, and are made once per record', async () => {
  const key = parseMasterKey(createMasterKeyText())
  const vault = key && createVault([key])
  const reached = {
    url: 'https://user:s3cret@hook.example/',
    headers: { 'X-Api-Key': 's3cret' },
    proxy: 'http://user:s3cret@proxy.example:3128',
  }
  const record = { ...RECORD, ...keepPushConsumer(reached, RECORD, vault) }
  expect(JSON.stringify(record)).not.toContain('s3cret')
  const requests = []
  for (let i = 0; i < 2; i++) {
    const opened = push(1, [], { record }, vault)
    expect(await opened.done).toBe('accepted')
    requests.push(...opened.requests)
  }
  expect(requests[0]).toMatchObject({
    url: reached.url,
    route: { headers: ['X-Api-Key', 's3cret'], proxy: { host: 'proxy.example', port: 3128 } },
  })
  expect(requests[1]?.route).toBe(requests[0]?.route)
})
