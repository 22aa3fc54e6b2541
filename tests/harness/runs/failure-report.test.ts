import { type Receiver, startReceiver } from '@fantail/test-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { failureReport } from './failure-report.ts'

let server: Receiver
beforeEach(async () => {
  server = await startReceiver()
})
afterEach(() => server.close())

const published = (messageId: string) => ({ level: 'info', msg: 'message.published', messageId })
const report = (...ids: string[]) =>
  failureReport({ url: server.url, logLines: () => ids.map((id) => published(id)) })

function answer(path: string, body: object): void {
  server.respond(path, { body: JSON.stringify(body) })
}

test('shows the timeline of what has not ended, and the lanes that hold something', async () => {
  answer('/v1/messages/done/deliveries', { deliveries: [{ state: 'delivered' }] })
  answer('/v1/messages/open/deliveries', { deliveries: [{ state: 'waiting', lastStatusCode: 503 }] })
  const idle = { id: 'a', endpoint: '/a', status: 'active', lane: { waiting: 0, inFlight: 0 } }
  const busy = { id: 'b', endpoint: '/b', status: 'active', lane: { waiting: 1, inFlight: 0 } }
  answer('/v1/subscriptions', { subscriptions: [idle, busy] })
  expect((await report('open', 'done')).split('\n')).toEqual([
    'messages: 2 published, 1 of the last 2 open or unknown',
    'message open: 1 deliveries',
    '  {"state":"waiting","lastStatusCode":503}',
    'lanes: 1 of the first 2 hold deliveries',
    '  b /b active {"waiting":1,"inFlight":0}',
  ])
})

test('names the reason where the API does not answer', async () => {
  const gone = server.url
  await server.close()
  const text = await failureReport({ url: gone, logLines: () => [published('m')] })
  expect(text).toMatch(/^message m: .*ECONNREFUSED/m)
  expect(text).toMatch(/^lanes: .*ECONNREFUSED/m)
})
