/**
 * A plain TCP server on loopback. It can send things that no HTTP library sends: resets, garbage, one byte at a time.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface RawServer {
  port: number
  /** Origin without a trailing slash. */
  url: string
  /** Number of connections accepted so far. */
  accepted(): number
  open(): number
  /** Destroys every connection that is open. */
  dropConnections(): void
  close(): Promise<void>
}

/** `connection` counts from 1. */
export async function startRawServer(
  handler: (socket: Socket, connection: number) => void,
): Promise<RawServer> {
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createServer((socket) => {
    accepted += 1
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {
      // A client that gives up resets the connection, which is normal in fault tests.
    })
    handler(socket, accepted)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const dropConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    accepted: () => accepted,
    open: () => sockets.size,
    dropConnections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        dropConnections()
      }),
  }
}

/** An answer without an end: its beginning, and what is repeated. */
export type Flood = readonly [what: string, head: string, repeated: string]

export const FLOODS: readonly Flood[] = [
  ['interim answers', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ['empty lines', '', '\r\n'],
  ['the extension of a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=', 'a'],
]

/** Bytes that the buffers of both sides may hold when a flooded connection is cut. */
export const FLOOD_BYTES_MAX = 16_777_216

/** Repeats the text as fast as the peer reads. */
export function flood(socket: Socket, head: string, repeated: string): void {
  const piece = Buffer.from(repeated.repeat(Math.ceil(65_536 / repeated.length)))
  const more = () => {
    while (socket.writable && socket.write(piece)) {}
  }
  socket.on('drain', more)
  socket.write(head)
  more()
}

/** Calls back for each whole request (head and Content-Length body) that arrives on the socket. */
export function onRawRequest(socket: Socket, callback: (request: string, n: number) => void): void {
  let pending = ''
  let count = 0
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1')
    for (let end = requestEnd(pending); end > 0; end = requestEnd(pending)) {
      count += 1
      const request = pending.slice(0, end)
      pending = pending.slice(end)
      callback(request, count)
    }
  })
}

function requestEnd(text: string): number {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return -1
  const length = /^content-length: *(\d+)/im.exec(text.slice(0, head))
  const end = head + 4 + Number(length?.[1] ?? 0)
  return text.length >= end ? end : -1
}
