import { expect, test } from 'vitest'
import { beginFault } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import type { ErrorBody } from '../../harness/services/rest-client.ts'
import { useStack } from '../../harness/services/stack.ts'

const stack = useStack({ workers: 1, proxied: 'publish-api' })
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
    await expect.poll(() => ledger.publish(`after ${how}`), { timeout: 5_000 }).toBe('accepted')
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
  await expect.poll(async () => (await publish('charge once', headers)).status, { timeout: 5_000 }).toBe(202)
  const again = await publish('charge once', headers)
  expect(again.headers['idempotent-replayed']).toBe('true')
  // Jobs of one queue are dispatched in order, so the last one ends the wait.
  await publish('last')
  await receiver().waitForRequests(1, ({ text }) => text === 'last')
  const texts = receiver().requestsTo('/keyed')
  expect(texts.map(({ text }) => text).sort()).toEqual(['charge once', 'last'])
  expect(texts.find(({ text }) => text === 'charge once')?.messageId).toBe(again.body.messageId)
})
