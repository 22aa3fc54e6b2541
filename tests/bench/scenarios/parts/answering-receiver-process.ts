/**
 * A receiver whose answer can be changed. It records the time of each arrival, by path and by the number in the message
 * (sequence.ts).
 */
import { type AddressInfo, createServer } from 'node:net'
import { HttpFraming, pathOf } from '../../processes/http-framing.ts'
import { answer } from '../../processes/ipc.ts'
import { monotonicMs } from '../../processes/monotonic.ts'
import { readSequence } from '../../processes/sequence.ts'

export interface Arrivals {
  total: number
  /** Different pairs of path and number. */
  distinct: number
  /** Times of the first request since the last `forget` and of the last request. 0: there was none. */
  firstAt: number
  lastAt: number
}

interface PathArrivals {
  count: number
  firstAt: number
  lastAt: number
  numbers: Set<number>
}

const ANSWERS: Record<number, Buffer> = {
  200: Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK'),
  503: Buffer.from('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy'),
}

const paths = new Map<string, PathArrivals>()
/** By number. */
const lastTimes = new Map<number, number>()
let response: Buffer | undefined = ANSWERS[200]
let total = 0
let distinct = 0
let firstAt = 0
let lastAt = 0

const server = createServer({ noDelay: true }, (socket) => {
  let now = 0
  const framing = new HttpFraming((head, bytes, bodyStart, end) => {
    arrived(pathOf(head), readSequence(bytes, bodyStart, end), now)
    if (response) socket.write(response)
  })
  socket.on('data', (chunk) => {
    now = monotonicMs()
    framing.push(chunk)
  })
  // The other process closed the connection. A missing delivery shows in the counts.
  socket.on('error', () => socket.destroy())
})

function arrived(path: string, number: number, now: number): void {
  let at = paths.get(path)
  if (!at) {
    at = { count: 0, firstAt: now, lastAt: now, numbers: new Set() }
    paths.set(path, at)
  }
  at.count++
  at.lastAt = now
  total++
  firstAt ||= now
  lastAt = now
  lastTimes.set(number, now)
  if (at.numbers.has(number)) return
  at.numbers.add(number)
  distinct++
}

function forget(): void {
  paths.clear()
  lastTimes.clear()
  total = distinct = firstAt = lastAt = 0
}

server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  answer({
    port: () => (server.address() as AddressInfo).port,
    answerWith: (status: 200 | 503) => {
      response = ANSWERS[status]
    },
    /** Accepts requests and never answers. */
    hang: () => {
      response = undefined
    },
    forget,
    arrivals: (): Arrivals => ({ total, distinct, firstAt, lastAt }),
    /** Requests per second of each path, from its first arrival to its last. */
    rates: () =>
      Array.from(
        paths.values(),
        ({ count, firstAt: from, lastAt: to }) => ((count - 1) * 1_000) / (to - from),
      ),
    /** The last arrival of each number, on any path. */
    lastTimes: () => [...lastTimes],
  })
})
