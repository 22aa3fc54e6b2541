/** The publishers: keep-alive connections on bare sockets that each make one request at a time. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { HttpFraming, statusOf } from './http-framing.ts'
import { answer, type LoadOptions, type LoadResult } from './ipc.ts'
import { monotonicMs } from './monotonic.ts'
import { numberedText, writeSequence } from './sequence.ts'

interface Tally {
  sequence: number
  accepted: number
  refused: number
  latencies: number[]
}

async function load(options: LoadOptions): Promise<LoadResult> {
  const tally: Tally = { sequence: 0, accepted: 0, refused: 0, latencies: [] }
  const sockets = await Promise.all(Array.from({ length: options.connections }, () => open(options.port)))
  const startedAt = monotonicMs()
  const until = performance.now() + options.durationMs
  await Promise.all(sockets.map((socket) => publish(socket, options, tally, until)))
  const endedAt = monotonicMs()
  const sorted = Float64Array.from(tally.latencies).sort()
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  const { accepted, refused } = tally
  return { accepted, refused, startedAt, endedAt, p50Ms: at(0.5), p99Ms: at(0.99) }
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

/** One connection's requests, one after the other, until time or number is up and the last is answered. */
function publish(socket: Socket, options: LoadOptions, tally: Tally, until: number): Promise<void> {
  const request = requestBytes(options)
  const textAt = request.indexOf('"#') + 1
  return new Promise((resolve, reject) => {
    let sentAt = 0
    const next = () => {
      sentAt = performance.now()
      if (sentAt >= until || tally.sequence >= options.requestsMax) {
        resolve()
        socket.destroy()
        return
      }
      // The bytes are gone when their answer is here, so each connection writes the same ones again.
      writeSequence(request, textAt, tally.sequence++)
      socket.write(request)
    }
    const framing = new HttpFraming((head) => {
      tally.latencies.push(performance.now() - sentAt)
      if (statusOf(head) < 300) tally.accepted++
      else tally.refused++
      next()
    })
    socket.on('data', (chunk) => framing.push(chunk))
    socket.on('error', reject)
    socket.on('end', () => reject(new Error('the API closed a connection')))
    next()
  })
}

function requestBytes({ port, paths, bodyBytes }: LoadOptions): Buffer {
  const body = JSON.stringify({ message: numberedText(0, bodyBytes) })
  const head = [
    `POST ${paths[0]} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

answer({ load })
