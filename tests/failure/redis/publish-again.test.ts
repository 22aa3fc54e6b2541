/**
 * A client does not learn whether a message was stored, because the reply or the topic is gone meanwhile. It publishes
 * again, and the message is delivered once.
 */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import type { ErrorBody } from '../../harness/services/rest-client.ts'
import { useStack } from '../../harness/services/stack.ts'

const ROUNDS = LONG ? 20 : 2
const KEYS = 60

const stack = useStack({ workers: 1, proxied: 'publish-api', env: { FANTAIL_FIFO_HTTP: 'true' } })
const receiver = useReceiver()

test.each(['break', 'silence'] as const)(
  'a publish whose reply is lost (%s) is told as unknown, stored once and delivered once',
  async (how) => {
    const row = beginFault('lost-reply')
    const topic = `lost-reply-${how}`
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic,
      subscriptions: { [`/${topic}`]: {} },
    })
    const lost = stack().proxy.trap({
      matches: (request) => request.includes(`text ${how}`),
      at: 'after',
      silent: how === 'silence',
    })
    expect(await ledger.publish(`text ${how}`)).toBe('unknown')
    await lost
    expect(ledger.failures).toMatchObject([{ status: 503, code: 'storage_unavailable', retryAfter: '1' }])
    await receiver().waitForRequests(1, `/${topic}`)
    await waitFor(async () => (await ledger.publish(`after ${how}`)) === 'accepted')
    const account = await ledger.whenSettled()
    row.report({ ...account, messages: account.accepted + account.unknown, recoverySeconds: null })
    expect(account).toMatchObject({ unknown: 1, duplicates: 0, lost: 0 })
    expect(
      receiver()
        .requestsTo(`/${topic}`)
        .filter(({ text }) => text === `text ${how}`),
    ).toHaveLength(1)
  },
)

test('with an Idempotency-Key the client repeats the request, and one message is delivered', async () => {
  const { client } = stack()
  await client.put('/v1/topics/keyed')
  await client.post('/v1/topics/keyed/subscriptions', {
    endpoint: `${receiver().url}/keyed`,
    rawMessageDelivery: true,
  })
  const publish = (message: string, headers = {}) =>
    client.call<{ messageId: string } & ErrorBody>('POST', '/v1/topics/keyed/messages', {
      body: { message },
      headers,
    })
  const headers = { 'idempotency-key': 'order-1' }
  const lost = stack().proxy.trap({ matches: (request) => request.includes('charge once'), at: 'after' })
  const first = await publish('charge once', headers)
  await lost
  expect([first.status, first.body.error.code]).toEqual([503, 'storage_unavailable'])
  await receiver().waitForRequests(1, '/keyed')
  await waitFor(async () => (await publish('charge once', headers)).status === 202)
  const again = await publish('charge once', headers)
  expect(again.headers['idempotent-replayed']).toBe('true')
  // Jobs of one queue are dispatched in order, so the last one ends the wait.
  await publish('last')
  await receiver().waitForRequests(1, ({ text }) => text === 'last')
  const texts = receiver().requestsTo('/keyed')
  expect(texts.map(({ text }) => text).sort()).toEqual(['charge once', 'last'])
  expect(texts.find(({ text }) => text === 'charge once')?.messageId).toBe(again.body.messageId)
})

/** A topic is deleted and created again while messages with Idempotency-Keys are published to it. */
test.each(['again', 'again.fifo'])(
  'no key of the earlier topic keeps a message from the new one: %s',
  async (topic) => {
    const row = beginFault('topic-again')
    const { client } = stack()
    const keys = Array.from({ length: KEYS }, (_, key) => String(key))
    const remove = () => client.call('DELETE', `/v1/topics/${topic}`)
    const make = async (path: string) => {
      await client.put(`/v1/topics/${topic}`)
      const endpoint = `${receiver().url}${path}`
      await client.post(`/v1/topics/${topic}/subscriptions`, { endpoint, rawMessageDelivery: true })
    }
    const publish = async (key: string) => {
      const order = topic.endsWith('.fifo') && { groupId: key, deduplicationId: key }
      const { status } = await client.call('POST', `/v1/topics/${topic}/messages`, {
        body: { message: key, ...order },
        headers: { 'idempotency-key': key },
      })
      return status
    }
    let arrivals = 0
    for (let round = 0; round < ROUNDS; round++) {
      await make(`/${topic}/${round}/before`)
      const inFlight = keys.map(publish)
      await Promise.race(inFlight)
      await remove()
      await Promise.all(inFlight)
      const path = `/${topic}/${round}/after`
      await make(path)
      expect(new Set(await Promise.all(keys.map(publish)))).toEqual(new Set([202]))
      const texts = () =>
        receiver()
          .requestsTo(path)
          .map(({ text }) => text)
      await waitFor(() => new Set(texts()).size === KEYS, { what: `the messages of round ${round}` })
      // When the last one has arrived, all earlier ones have.
      expect(await publish('last')).toBe(202)
      await waitFor(() => texts().includes('last'), { what: 'the last message' })
      arrivals += texts().length - 1
      await remove()
    }
    const messages = ROUNDS * KEYS
    row.report({ messages, lost: 0, duplicates: arrivals - messages, recoverySeconds: null })
    expect(arrivals).toBe(messages)
  },
)
