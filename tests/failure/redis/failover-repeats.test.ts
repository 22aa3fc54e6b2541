/**
 * Repeated publishes with FANTAIL_MIN_REPLICAS=1: by Idempotency-Key, by deduplication id, or as new ones, at the same
 * API and at another. A publish that is answered 2xx must survive the loss of the master. The first request of each is
 * answered 503. It has written the key or id that the repeated one finds.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { redisReleases, startWithReplica, type TestReplica, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { beginFault, secondsSince } from '../../harness/ledgers/fault-rows.ts'
import { placeOf } from '../../harness/services/redis-place.ts'
import { RestClient } from '../../harness/services/rest-client.ts'
import { ServiceProcess } from '../../harness/services/service-process.ts'
import { type Stack, startStack } from '../../harness/services/stack.ts'

const KINDS = ['standard topic', 'FIFO topic', 'FIFO queue'] as const
const KEYS = ['no key', 'Idempotency-Key', 'deduplication id'] as const
const PLACES = ['the same API', 'another API'] as const
const PATHS = {
  'standard topic': '/v1/topics/repeats/messages',
  'FIFO topic': '/v1/topics/repeats.fifo/messages',
  'FIFO queue': '/v1/queues/direct.fifo/messages',
}
/**
 * The queues at which the messages of PATHS arrive: one for each topic, and the queue to which messages are sent
 * directly.
 */
const QUEUES = ['arrivals', 'arrivals.fifo', 'direct.fifo']

interface Cell {
  text: string
  kind: (typeof KINDS)[number]
  key: (typeof KEYS)[number]
  place: (typeof PLACES)[number]
}

const CELLS: Cell[] = KINDS.flatMap((kind) =>
  KEYS.flatMap((key) =>
    PLACES.map((place) => ({ text: `${kind}, ${key}, ${place}`.replaceAll(' ', '-'), kind, key, place })),
  ),
)
/**
 * A standard topic accepts no deduplication id. A queue knows no Idempotency-Key, so each request to it is a new
 * message.
 */
const isRefused = ({ kind, key }: Cell) => kind === 'standard topic' && key === 'deduplication id'
const isOneMessage = ({ kind, key }: Cell) =>
  key === 'deduplication id' || (key === 'Idempotency-Key' && kind !== 'FIFO queue')
/** Whether a repeated publish writes nothing. A queue stores its clock with every send, so it always writes. */
const writesNothing = (cell: Cell) => isOneMessage(cell) && !isRefused(cell) && cell.kind !== 'FIFO queue'

const { usual, newer } = redisReleases()

describe.each([
  ['the usual Redis', usual],
  ['a Redis of 7.2 or newer, or a Valkey', newer],
])('with a replica, %s', (_, command) => {
  let pair: TestReplica
  let stack: Stack
  let other: ServiceProcess
  let otherClient: RestClient
  let dataDir: string
  let requests = 0

  beforeAll(async () => {
    if (!command) return
    pair = await startWithReplica({ command, appendfsync: 'always' })
    const { master, stop } = pair
    const env = { FANTAIL_MIN_REPLICAS: '1' }
    const place = placeOf(master, stop)
    stack = await startStack({ place, proxied: 'all', env })
    dataDir = await mkdtemp(join(tmpdir(), 'fantail-data-'))
    other = new ServiceProcess('publish-api', 'other-api', {
      ...env,
      FANTAIL_PORT: '0',
      FANTAIL_DATA_DIR: dataDir,
      REDIS_URL: `redis://127.0.0.1:${stack.proxy.port}`,
    })
    await other.start()
    otherClient = new RestClient(() => other.url)
  }, 60_000)

  afterAll(async () => {
    await otherClient?.close()
    await other?.stop()
    await stack?.stop()
    if (dataDir) await rm(dataDir, { recursive: true, force: true })
  }, 60_000)

  const send = async (cell: Cell, client: RestClient) => {
    const { text, kind, key } = cell
    const own = isOneMessage(cell) ? text : `${text}-${++requests}`
    const order = kind !== 'standard topic' && { groupId: text, deduplicationId: own }
    const body = {
      [kind === 'FIFO queue' ? 'body' : 'message']: text,
      ...order,
      ...(isRefused(cell) && { deduplicationId: text }),
    }
    const headers = key === 'Idempotency-Key' ? { 'idempotency-key': text } : {}
    const { status } = await client.call('POST', PATHS[kind], {
      body,
      headers: headers as Record<string, string>,
    })
    return status
  }
  const repeat = (cell: Cell) => send(cell, cell.place === 'another API' ? otherClient : stack.client)

  /** The received texts, each as often as it was received. */
  async function received(texts: string[]): Promise<string[]> {
    for (const queue of QUEUES) {
      const { messages } = await stack.client.post<{ messages: { body: string; receiptHandle: string }[] }>(
        `/v1/queues/${queue}/receive`,
        { maxMessages: 10 },
      )
      if (messages.length === 0) continue
      texts.push(...messages.map(({ body }) => body))
      const receiptHandles = messages.map(({ receiptHandle }) => receiptHandle)
      await stack.client.post(`/v1/queues/${queue}/ack`, { receiptHandles })
    }
    return texts
  }

  test.skipIf(!command)(
    'no repeated publish is acknowledged that a failover would lose',
    async () => {
      const row = beginFault('failover-repeats')
      const { client } = stack
      for (const queue of QUEUES) await client.put(`/v1/queues/${queue}`)
      for (const topic of ['repeats', 'repeats.fifo']) {
        await client.put(`/v1/topics/${topic}`)
        const endpoint = topic.replace('repeats', 'arn:aws:sqs:us-east-1:000000000000:arrivals')
        const subscription = { protocol: 'sqs', endpoint, rawMessageDelivery: true }
        await client.post(`/v1/topics/${topic}/subscriptions`, subscription)
      }
      const expected = (cells: Cell[], status: number) =>
        cells.map((cell) => `${cell.text} ${isRefused(cell) ? 400 : status}`)
      const answers = (cells: Cell[], act: (cell: Cell) => Promise<number>) =>
        Promise.all(cells.map(async (cell) => `${cell.text} ${await act(cell)}`))

      await pair.replica.freeze()
      expect(await answers(CELLS, (cell) => send(cell, client))).toEqual(expected(CELLS, 503))
      // Cells that write nothing are repeated first, separately. A write on the same connection would make its WAIT
      // hold them back too, and this test would prove nothing.
      for (const cells of [CELLS.filter(writesNothing), CELLS.filter((cell) => !writesNothing(cell))]) {
        expect(await answers(cells, repeat)).toEqual(expected(cells, 503))
      }
      await pair.replica.thaw()
      const acknowledged = CELLS.filter((cell) => !isRefused(cell))
      await Promise.all(
        acknowledged.map((cell) => waitFor(async () => (await repeat(cell)) < 300, { what: cell.text })),
      )
      const lostAt = performance.now()
      stack.proxy.leadTo(pair.replica.port)
      await pair.failOver()

      const found: string[] = []
      const missing = () => acknowledged.filter(({ text }) => !found.includes(text)).map(({ text }) => text)
      await expect
        .poll(async () => (await received(found).catch(() => found)) && missing(), { timeout: 20_000 })
        .toEqual([])
      const recoverySeconds = secondsSince(lostAt)
      const copies = (cell: Cell) => found.filter((text) => text === cell.text).length
      const duplicates = acknowledged.filter((cell) => isOneMessage(cell) && copies(cell) > 1)
      const messages = acknowledged.length
      row.report({ messages, lost: missing().length, duplicates: duplicates.length, recoverySeconds })
      expect(duplicates).toEqual([])
    },
    60_000,
  )
})
