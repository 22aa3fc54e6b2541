/** Requests with a send moment. A request that is late is not written, and its connection stays open. */
import { onRawRequest, type RawServer, startRawServer, waitFor } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import type { FurtherRequest, HttpRequest } from './http-request.ts'
import { createTestSender, type TestSender } from './http-sender.fixture.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const CLOSED = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
const SLOW_MS = 60

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.close()
})

/** A server that records `requests` (their texts) and `connections` (the connection's number for each request). */
async function startServer(answer: (n: number) => string | 'reset') {
  const requests: string[] = []
  const connections: number[] = []
  const server = await startRawServer((socket, connection) =>
    onRawRequest(socket, (request, n) => {
      requests.push(request)
      connections.push(connection)
      const said = answer(n)
      if (said === 'reset') socket.resetAndDestroy()
      else socket.write(said)
    }),
  )
  opened.push(server)
  return { server, requests, connections }
}

/** A sender whose name look-ups take as long as the test decides. */
function startSender(resolve: () => Promise<unknown>): TestSender {
  const resolver = { resolve: () => resolve().then(() => ['127.0.0.1']) }
  const sender = createTestSender({ allowPrivate: true, timeoutMs: 5_000, resolver })
  opened.push({ close: () => sender.close(0) })
  return sender
}

const at = ({ port }: RawServer, user = ''): HttpRequest => ({
  url: `http://${user}late.example:${port}/`,
  headers: [],
  body: 'hello',
})
const atOnce = () => Promise.resolve()
const slowly = () => new Promise((resolve) => setTimeout(resolve, SLOW_MS))

/** Resolves with the duration of the dial. */
const miss = (sender: TestSender, request: HttpRequest) =>
  new Promise<number>((missed, reject) => {
    const ended = () => reject(new Error('it was sent'))
    sender.send({ ...request, moment: { isPast: () => true, missed } }, ended, ended)
  })

test('a request that is late when its connection is ready is not written, and the next has the connection', async () => {
  const { server, requests } = await startServer(() => OK)
  const name = Promise.withResolvers<void>()
  const sender = startSender(() => name.promise)
  let past = false
  const begun: unknown[] = []
  const missing = new Promise<number>((missed, reject) => {
    const moment = { isPast: () => past, missed }
    sender.send({ ...at(server), moment, onRequest: () => begun.push('late') }, reject)
  })
  past = true
  name.resolve()
  expect(await missing).toBeGreaterThan(0)
  expect(sender.stats()).toMatchObject({ inFlight: 0, connections: 1, idle: 1 })
  past = false
  const moment = { isPast: () => past, missed: () => undefined }
  const next = await sender.attempt({ ...at(server), moment, onRequest: () => begun.push('in time') })
  expect(next).toMatchObject({ statusCode: 200 })
  expect(begun).toEqual(['in time'])
  expect(requests).toHaveLength(1)
  expect(server.accepted()).toBe(1)
})

test('a request that is late on a connection that was used before leaves it for the next', async () => {
  const { server, requests } = await startServer(() => OK)
  const sender = startSender(atOnce)
  await sender.attempt(at(server))
  expect(await miss(sender, at(server))).toBe(0)
  expect(await miss(sender, at(server))).toBe(0)
  expect(await sender.attempt(at(server))).toMatchObject({ statusCode: 200 })
  expect(requests).toHaveLength(2)
  expect(server.accepted()).toBe(1)
})

test('a request that is late after a reset leaves its fresh connection for the next', async () => {
  const { server } = await startServer((n) => (n === 1 ? OK : 'reset'))
  const sender = startSender(atOnce)
  await Promise.all([sender.attempt(at(server)), sender.attempt(at(server))])
  const earlier = await new Promise<FurtherRequest>((again, reject) => sender.send(at(server), reject, again))
  expect(await miss(sender, { ...at(server), earlier })).toBeGreaterThan(0)
  expect(await sender.attempt({ ...at(server), earlier })).toMatchObject({ statusCode: 200 })
  expect(server.accepted()).toBe(3)
})

test('a connection that was closed while it waited for a request costs no attempt', async () => {
  const { server, requests } = await startServer(() => OK)
  const sender = startSender(atOnce)
  await miss(sender, at(server))
  server.dropConnections()
  expect(await sender.attempt(at(server))).toMatchObject({ statusCode: 200 })
  expect(requests).toHaveLength(1)
})

test('a late request uses no count of a digest nonce', async () => {
  const challenge = 'WWW-Authenticate: Digest realm="hooks", qop="auth", nonce="n"'
  const REFUSED = `HTTP/1.1 401 No\r\n${challenge}\r\nContent-Length: 0\r\n\r\n`
  let asked = 0
  const { server, requests } = await startServer(() => (asked++ === 0 ? REFUSED : OK))
  const sender = startSender(atOnce)
  const request = at(server, 'user:word@')
  await sender.attempt(request)
  await miss(sender, request)
  await sender.attempt(request)
  const counts = requests.map((text) => /nc=(\d+)/.exec(text)?.[1])
  expect(counts).toEqual([undefined, '00000001', '00000002'])
})

test('an origin that is slow to dial has a connection opened ahead of the request, one at a time', async () => {
  const { server, requests } = await startServer(() => OK)
  const sender = startSender(slowly)
  sender.openAhead(at(server))
  // No dial has been measured yet, so nothing is opened ahead.
  expect(sender.stats().connections).toBe(0)
  for (const _ of [1, 2]) await sender.attempt(at(server))
  server.dropConnections()
  await waitFor(() => sender.stats().connections === 0, { what: 'the end to be seen' })
  sender.openAhead(at(server))
  sender.openAhead(at(server))
  expect(sender.stats()).toMatchObject({ connections: 1, idle: 1 })
  await waitFor(() => server.accepted() === 2, { what: 'the connection' })
  expect(requests).toHaveLength(2)
  for (const _ of [1, 2]) expect(await sender.attempt(at(server))).toMatchObject({ statusCode: 200 })
  // A request also waits for a connection that is still being opened.
  server.dropConnections()
  await waitFor(() => sender.stats().connections === 0, { what: 'the end to be seen' })
  sender.openAhead(at(server))
  expect(await sender.attempt(at(server))).toMatchObject({ statusCode: 200 })
  expect(server.accepted()).toBe(3)
})

test('an origin that closes its connections and is slow to dial has one opened ahead for each request', async () => {
  const { server, connections } = await startServer(() => CLOSED)
  const sender = startSender(slowly)
  await sender.attempt(at(server))
  const missed = miss(sender, at(server))
  const closing = sender.attempt(at(server))
  await Promise.all([missed, closing])
  for (const _ of [1, 2, 3]) sender.openAhead(at(server))
  // One more connection is there: that of the request that was late.
  expect(sender.stats().connections).toBe(4)
  await waitFor(() => server.accepted() === 6, { what: 'the connections' })
  await waitFor(() => sender.stats().idle === 4, { what: 'them to wait' })
  for (const _ of [1, 2, 3, 4]) await sender.attempt(at(server))
  // The connections are used in the order in which they were opened.
  expect(connections.slice(2)).toEqual(connections.slice(2).toSorted((a, b) => a - b))
  expect(new Set(connections).size).toBe(6)
})

test('a request dials for itself if no connection could be opened ahead', async () => {
  const { server } = await startServer(() => OK)
  let dials = 0
  const sender = startSender(async () => {
    await slowly()
    if (++dials === 2) throw new Error('no such name')
  })
  await sender.attempt(at(server))
  server.dropConnections()
  await waitFor(() => sender.stats().connections === 0, { what: 'the end to be seen' })
  sender.openAhead(at(server))
  await waitFor(() => sender.stats().connections === 0, { what: 'the dial to fail' })
  expect(await sender.attempt(at(server))).toMatchObject({ statusCode: 200 })
})

test('a dial ahead that hangs is called off, and no later request waits for it', async () => {
  const { server } = await startServer(() => OK)
  let hangs = false
  const sender = startSender(() => (hangs ? Promise.withResolvers<void>().promise : slowly()))
  await sender.attempt(at(server))
  server.dropConnections()
  await waitFor(() => sender.stats().connections === 0, { what: 'the end to be seen' })
  hangs = true
  sender.openAhead(at(server))
  expect(sender.stats()).toMatchObject({ connections: 1, idle: 1 })
  hangs = false
  await waitFor(() => sender.stats().connections === 0, { what: 'the dial to be called off' })
  expect(await sender.attempt(at(server))).toMatchObject({ statusCode: 200 })
})

test('a request after a reset takes no connection that has waited long, though it was never used', async () => {
  let broken = 0
  const server = await startRawServer((socket, connection) =>
    onRawRequest(socket, () => {
      if (connection <= broken) socket.resetAndDestroy()
      else socket.write(CLOSED)
    }),
  )
  opened.push(server)
  const sender = startSender(slowly)
  await sender.attempt(at(server))
  for (const _ of [1, 2]) sender.openAhead(at(server))
  await waitFor(() => server.accepted() === 3, { what: 'the connections' })
  const from = performance.now()
  await waitFor(() => performance.now() - from > 2_000, { what: 'them to have waited' })
  broken = 3
  expect(await sender.attempt(at(server))).toMatchObject({ statusCode: 200 })
  expect(server.accepted()).toBe(4)
})
