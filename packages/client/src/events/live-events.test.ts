import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Fantail } from '../fantail-client.ts'
import type { LiveEvent } from './live-events.ts'

const asked: IncomingMessage[] = []
let answer: (response: ServerResponse, n: number) => void
const server = createServer((request, response) => {
  asked.push(request)
  answer(response, asked.length)
})
let fantail: Fantail

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  fantail = new Fantail({ url: `http://127.0.0.1:${port}`, apiKey: 'ft_key' })
})
beforeEach(() => {
  asked.length = 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })

async function take(events: AsyncIterable<LiveEvent>, count: number): Promise<LiveEvent[]> {
  const taken: LiveEvent[] = []
  for await (const event of events) if (taken.push(event) === count) break
  return taken
}

test('events come in pieces of any size, over a connection that breaks, behind the last one', async () => {
  answer = (response, n) => {
    stream(response)
    if (n > 1) {
      response.write('id: 2\nevent: expired\ndata: {"type":"expired"}\n\n')
      return
    }
    response.write('retry: 1000\n\n: heartbeat\n\nid: 1\nevent: deliv')
    setTimeout(
      () => response.write('ered\ndata: {"type":"delivered","endpoint":"http://ü: x"}\n\nid: 9\nevent: exp'),
      20,
    )
    setTimeout(() => response.destroy(), 60)
  }
  const events = await take(fantail.events({ topic: 'orders', type: ['delivered', 'expired'], max: 5 }), 3)
  expect(events).toMatchObject([
    { name: 'delivered', id: '1', data: { type: 'delivered', endpoint: 'http://ü: x' } },
    { name: 'lost', data: { error: { code: 'network', retryable: true }, retryInMs: expect.any(Number) } },
    { name: 'expired', id: '2' },
  ])
  expect(asked.map(({ url }) => url)).toEqual(
    Array(2).fill('/v1/events?topic=orders&max=5&type=delivered%2Cexpired'),
  )
  expect(asked.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1'])
  expect(asked[0]?.headers.authorization).toBe('Bearer ft_key')
})

test('a refusal ends it, and a full server is asked again when it says', async () => {
  answer = (response, n) => {
    const [status, code] = n === 1 ? [429, 'rate_limited'] : [403, 'forbidden']
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' })
    response.end(JSON.stringify({ error: { code, message: 'no' } }))
  }
  const events: LiveEvent[] = []
  const all = async () => {
    for await (const event of fantail.events()) events.push(event)
  }
  await expect(all()).rejects.toMatchObject({ code: 'forbidden', status: 403 })
  expect(events).toMatchObject([{ name: 'lost', data: { error: { code: 'rate_limited' }, retryInMs: 0 } }])
})

test('the signal ends it, and whoever leaves the loop leaves no connection', async () => {
  answer = (response) => {
    stream(response)
    response.write('event: state\ndata: {"live":true}\n\n')
  }
  const aborter = new AbortController()
  const listening = (async () => {
    for await (const { name } of fantail.events({ signal: aborter.signal }))
      if (name === 'state') aborter.abort()
  })()
  await expect(listening).rejects.toMatchObject({ code: 'aborted' })
  const [closed] = asked
  if (closed && !closed.destroyed) await once(closed.socket, 'close')
  await take(fantail.events(), 1)
  const left = asked[1]
  if (left && !left.socket.destroyed) await once(left.socket, 'close')
})
