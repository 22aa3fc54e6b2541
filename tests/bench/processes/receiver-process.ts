/**
 * The receiver separates requests by Content-Length, counts them per path, and answers 200. If it did more work, the
 * benchmark would measure the receiver. On request it refuses each delivery once, and then counts only accepted ones.
 * With BENCH_TLS_HOSTS it serves that many hosts over TLS, and answers as late as it is asked to.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { HttpFraming, pathOf } from './http-framing.ts'
import { type Arrived, answer } from './ipc.ts'
import { monotonicMs } from './monotonic.ts'
import { readSequence, SequenceSet } from './sequence.ts'
import { TlsHosts } from './tls-hosts.ts'

const OK = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK')
const BUSY = Buffer.from('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy')

/** By path, which is by subscription. */
type ByPath = Map<string, SequenceSet>
const arrivals: ByPath = new Map()
const refused: ByPath = new Map()
let refusesFirst = false
let lastAt = 0
/** Number and time of each arrival in order, if the bench has asked for them. */
let times: number[] | undefined
let answerAfterMs = 0
const hosts = process.env.BENCH_TLS_HOSTS ? new TlsHosts(Number(process.env.BENCH_TLS_HOSTS)) : undefined

const server = createServer({ noDelay: true }, (socket) => serve(hosts?.secured(socket) ?? socket))

function serve(socket: Socket): void {
  const framing = new HttpFraming((head, bytes, bodyStart, end) => {
    const sequence = readSequence(bytes, bodyStart, end)
    if (refusesFirst && setAt(refused, pathOf(head)).add(sequence)) {
      socket.write(BUSY)
      return
    }
    setAt(arrivals, pathOf(head)).add(sequence)
    times?.push(sequence, lastAt)
    if (answerAfterMs > 0) setTimeout(() => socket.write(OK), answerAfterMs)
    else socket.write(OK)
  })
  socket.on('data', (chunk) => {
    lastAt = monotonicMs()
    framing.push(chunk)
  })
  // The other process closed the connection. A missing delivery shows in the counts.
  socket.on('error', () => socket.destroy())
}

function setAt(sets: ByPath, path: string): SequenceSet {
  let set = sets.get(path)
  if (!set) {
    set = new SequenceSet()
    sets.set(path, set)
  }
  return set
}

function arrived(): Arrived {
  const sum: Arrived = { total: 0, distinct: 0, lastAt }
  for (const { total, distinct } of arrivals.values()) {
    sum.total += total
    sum.distinct += distinct
  }
  return sum
}

server.listen({ port: 0, host: hosts ? '0.0.0.0' : '127.0.0.1', backlog: 4_096 }, () => {
  answer({
    port: () => (server.address() as AddressInfo).port,
    reset: () => {
      arrivals.clear()
      refused.clear()
      times = undefined
    },
    refuseFirst: () => {
      refusesFirst = true
    },
    answerAfter: (ms: number) => {
      answerAfterMs = ms
    },
    authority: () => hosts?.authority,
    hosts: () => hosts?.addresses,
    connections: () => hosts?.connections,
    recordTimes: () => {
      times = []
    },
    times: () => times ?? [],
    arrived,
  })
})
