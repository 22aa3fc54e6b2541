import { type Receiver, startReceiver } from '@fantail/test-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeUnplaced } from './unplaced.ts'

let server: Receiver
beforeEach(async () => {
  server = await startReceiver()
})
afterEach(() => server.close())

function answer(messageId: string, deliveries: object[]): void {
  server.respond(`/v1/messages/${messageId}/deliveries`, { body: JSON.stringify({ deliveries }) })
}

test('lists lost deliveries before those that have ended where the ledger only counts', async () => {
  answer('a', [{ subscriptionId: 's', state: 'discarded' }])
  answer('b', [{ subscriptionId: 's', state: 'waiting' }])
  const unplaced = [
    { key: '/s m0', subscriptionId: 's', messageId: 'a' },
    { key: '/s m1', subscriptionId: 's', messageId: 'b' },
    { key: '/s m2', subscriptionId: 's', messageId: undefined },
  ]
  expect((await describeUnplaced(server, unplaced)).split('\n')).toEqual([
    'missing: /s m1, /s m2, /s m0',
    'message b: 1 deliveries',
    '  {"subscriptionId":"s","state":"waiting"}',
    'message a: 1 deliveries',
    '  {"subscriptionId":"s","state":"discarded"}',
  ])
})

test('lists deliveries of which the API does not answer', async () => {
  const { url } = server
  await server.close()
  const text = await describeUnplaced({ url }, [{ key: '/s m0', subscriptionId: 's', messageId: 'a' }])
  expect(text).toMatch(/^missing: \/s m0\nmessage a: .*ECONNREFUSED/)
})
