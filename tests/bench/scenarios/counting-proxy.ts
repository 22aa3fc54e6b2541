/** Stands between a process and its Redis, and counts the round trips: bursts of requests with an answer between them. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CountingProxy {
  url: string
  /** So far, on all connections. */
  trips(): number
  stop(): void
}

export async function startCountingProxy(redisPort: number): Promise<CountingProxy> {
  const sockets = new Set<Socket>()
  let trips = 0
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Either end may go first; the other follows by the pipe's end.
    socket.on('error', () => socket.destroy())
  }
  const server = createServer({ noDelay: true }, (client) => {
    const redis = connect({ port: redisPort, host: '127.0.0.1', noDelay: true })
    keep(client)
    keep(redis)
    let answered = true
    client.on('data', () => {
      if (answered) trips++
      answered = false
    })
    redis.on('data', () => {
      answered = true
    })
    client.pipe(redis)
    redis.pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    trips: () => trips,
    stop: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
