import { once } from 'node:events'
import { connect } from 'node:net'
import { startFairTimer, waitFor } from '@fantail/test-kit'
import { Hono } from 'hono'
import { afterEach, expect, test } from 'vitest'
import { type ApiServer, listen } from './server.ts'

let server: ApiServer

async function start(timeouts: { headersMs: number; requestMs: number }) {
  const app = new Hono().post('/', async (context) =>
    context.text(await context.req.text().catch(() => 'cut')),
  )
  server = await listen(app as never, { host: '127.0.0.1', port: 0, timeouts })
}
afterEach(() => server.close())

test.each([
  { what: 'headers', sent: 'POST / HTTP/1.1\r\nHost: a\r\nX: ' },
  { what: 'body', sent: 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx' },
])('a connection ends soon after the time for the $what of a request', async ({ sent }) => {
  await start({ headersMs: 300, requestMs: 900 })
  const socket = connect(server.port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const tookMs = startFairTimer()
  socket.write(sent)
  await once(socket, 'close')
  expect(text).toContain('HTTP/1.1 408 ')
  // Node's own look every 30 s would come far later.
  expect(tookMs()).toBeLessThan(10_000)
})

test.each([
  { what: 'a kept connection', firsts: 1, pauseMs: 700 },
  { what: 'a new connection', firsts: 0, pauseMs: 1_500 },
])('a stopping server answers one more request of $what, and closes it', async ({ firsts, pauseMs }) => {
  await start({ headersMs: 30_000, requestMs: 30_000 })
  const socket = connect(server.port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  await once(socket, 'connect')
  const answers = () => text.match(/HTTP\/1\.1 200 /g)?.length ?? 0
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx'
  for (let sent = 1; sent <= firsts; sent++) {
    socket.write(post)
    await waitFor(() => answers() === sent, { what: 'an answer' })
  }
  expect(text).not.toContain('Connection: close')
  const closed = server.close()
  setTimeout(() => socket.write(post), pauseMs)
  await once(socket, 'close')
  await closed
  expect([answers(), text.match(/connection: close/i)?.length]).toEqual([firsts + 1, 1])
})
