/** Batches of streams: the bounds for each kind of place, and streams that no setting names. */
import type { AttemptResult } from '@fantail/contracts'
import { expect, test } from 'vitest'
import type { EndpointTarget } from '../envelope/target.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { createStreamAttempter } from './stream-attempter.ts'

const PUBLISHED_AT = Date.UTC(2026, 10, 22)
const targetOf = (name: string) =>
  ({
    url: `arn:aws:firehose:us-east-1:000000000000:deliverystream/${name}`,
    subscriptionId: 's',
  }) as EndpointTarget

function start() {
  const requests: HttpRequest[] = []
  const send = (request: HttpRequest, done: (result: AttemptResult) => void) => {
    requests.push(request)
    const body = Buffer.from(JSON.stringify({ FailedPutCount: 0, RequestResponses: [{ RecordId: '1' }] }))
    setImmediate(done, { kind: 'response', statusCode: 200, durationMs: 1, body, text: 'x' })
  }
  const itemIdOf = (subscriptionId: string, delivery: Buffer) =>
    `${subscriptionId}.${delivery.toString('hex')}`
  const streams = { orders: 'http://127.0.0.1:4566', files: 'file:///tmp' }
  const made = createStreamAttempter({ sender: { send }, clock: Date.now, itemIdOf }, { streams })
  if (!made) throw new Error('the settings name streams')
  return { batching: made.batching, requests }
}

const deliveryAt = (ms: number) => {
  const delivery = Buffer.alloc(16)
  delivery.writeUIntBE(ms, 0, 6)
  return delivery
}

test('[361] a request has at most 500 records and 3 MB, an object 2,000 and 5 MiB', () => {
  const { batching } = start()
  expect(batching.limitsOf(targetOf('orders'))).toEqual({ records: 500, bytes: 3_000_000, lingerMs: 100 })
  expect(batching.limitsOf(targetOf('files'))).toEqual({ records: 2_000, bytes: 5_242_880, lingerMs: 1_000 })
})

test('a batch is one request, and its results have a text only where that is asked for', async () => {
  const { batching, requests } = start()
  const records = [{ bytes: Buffer.from('a\n'), delivery: deliveryAt(PUBLISHED_AT) }]
  const attempt = (textBytesMax?: number) =>
    new Promise<readonly AttemptResult[]>((resolve) =>
      batching.attempt({ target: targetOf('orders'), records, textBytesMax }, resolve),
    )
  expect(await attempt()).toMatchObject([{ kind: 'response', statusCode: 200 }])
  expect((await attempt())[0]).not.toHaveProperty('text')
  expect((await attempt(10))[0]).toHaveProperty('text')
  expect(requests).toHaveLength(3)
})

test('a stream that the settings no longer name is a fault of ours, for each of its records', async () => {
  const { batching, requests } = start()
  const target = targetOf('other')
  const records = [1, 2].map((ms) => ({ bytes: Buffer.from('a\n'), delivery: deliveryAt(ms) }))
  const results = new Promise((resolve) => batching.attempt({ target, records }, resolve))
  expect(await results).toMatchObject(
    Array(2).fill({ kind: 'misconfigured', credential: `stream:${target.url}` }),
  )
  expect(requests).toEqual([])
})
