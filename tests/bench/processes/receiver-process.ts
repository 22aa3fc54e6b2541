/**
 * The receiver: frames requests by Content-Length, counts per path, answers 200. Doing more, it would be what is
 * measured.
 */
import { type AddressInfo, createServer } from 'node:net'
import { HttpFraming, pathOf } from './http-framing.ts'
import { type Arrived, answer } from './ipc.ts'
import { monotonicMs } from './monotonic.ts'
import { readSequence, SequenceSet } from './sequence.ts'

const OK = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK')

/** By path, so by subscription. */
const arrivals = new Map<string, SequenceSet>()
let lastAt = 0
/** Number and time of every arrival in turn, while they are wanted. */
let times: number[] | undefined

const server = createServer({ noDelay: true }, (socket) => {
  const framing = new HttpFraming((head, bytes, bodyStart, end) => {
    const sequence = readSequence(bytes, bodyStart, end)
    arrivalsAt(pathOf(head)).add(sequence)
    times?.push(sequence, lastAt)
    socket.write(OK)
  })
  socket.on('data', (chunk) => {
    lastAt = monotonicMs()
    framing.push(chunk)
  })
  // The other process cut the connection; the count shows it.
  socket.on('error', () => socket.destroy())
})

function arrivalsAt(path: string): SequenceSet {
  let set = arrivals.get(path)
  if (!set) {
    set = new SequenceSet()
    arrivals.set(path, set)
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

server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  answer({
    port: () => (server.address() as AddressInfo).port,
    reset: () => {
      arrivals.clear()
      times = undefined
    },
    recordTimes: () => {
      times = []
    },
    times: () => times ?? [],
    arrived,
  })
})
