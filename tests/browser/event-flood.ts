/** Stands before an API, and answers its stream of live events with as many made-up events as asked. */
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface EventFlood {
  url: string
  /** Events that were sent. */
  sent(): number
  close(): Promise<void>
}

/** Events are sent in groups, as the API does it. */
const GROUP_MS = 50

export async function startEventFlood(apiUrl: string, perSecond: number): Promise<EventFlood> {
  let sent = 0
  const timers = new Set<NodeJS.Timeout>()
  const flood = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    response.write(frame('state', { live: true, lagMs: 1, ends: true }))
    const startedAt = performance.now()
    let own = 0
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond)
      const frames = Array.from({ length: due - own }, (_, n) => frame('attempt', eventOf(own + n)))
      if (Math.floor(due / perSecond) % 5 === 0)
        frames.push(frame('state', { live: true, lagMs: 1, ends: true }))
      response.write(frames.join(''))
      sent += due - own
      own = due
    }, GROUP_MS)
    timers.add(timer)
    response.on('close', () => clearInterval(timer))
  }
  const server = createServer((asked, response) => {
    if (asked.method === 'GET' && asked.url?.startsWith('/v1/events')) return flood(response)
    const { host } = new URL(apiUrl)
    const passed = request(`${apiUrl}${asked.url}`, {
      method: asked.method,
      headers: { ...asked.headers, host },
    })
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => sent,
    close: () => {
      for (const timer of timers) clearInterval(timer)
      server.closeAllConnections()
      return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())))
    },
  }
}

const frame = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

function eventOf(n: number): object {
  const hex = n.toString(16).padStart(12, '0')
  const isGood = n % 7 > 0
  return {
    type: 'attempt',
    at: new Date().toISOString(),
    topicArn: `arn:aws:sns:us-east-1:000000000000:orders-${n % 60}`,
    messageId: `01a21590-0000-7000-8000-${hex}`,
    subscriptionId: `1e0294a3-5827-89ef-9000-${hex}`,
    subscriptionName: n % 3 > 0 ? `Customer ${n % 12_000}` : null,
    endpoint: `https://customer-${n % 12_000}.example.com/hook`,
    attempts: (n % 4) + 1,
    path: 'lane',
    statusCode: isGood ? 200 : 503,
    error: null,
    durationMs: n % 90,
    decision: isGood ? 'delivered' : 'retry',
    cause: isGood ? null : 'backoff',
    delayMs: isGood ? null : 5_000,
    ...(isGood ? {} : { nextAttemptAt: new Date(Date.now() + 5_000).toISOString() }),
  }
}
