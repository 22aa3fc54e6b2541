/**
 * A TCP proxy to a Redis that becomes unreachable once, at a chosen request. At this request all connections are cut,
 * and new ones are refused for a moment.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

interface RedisOutage {
  port: number
  /** Number of requests so far. Bytes that a client writes at once count as one. */
  readonly requests: number
  close(): Promise<void>
}

interface RedisOutageOptions {
  /** The request at which the outage begins, counted from 1. */
  at: number
  /** How long new connections are refused. */
  forMs: number
}

const NEVER = Number.POSITIVE_INFINITY
const AT_ONCE = 12
/** More than any start has. */
const REQUESTS_MAX = 240

/**
 * Calls `through` once without an outage, and then for each request that it made, several at a time. `through` resolves
 * with the number of requests until the start and its work were done. Resolves with the number of outages.
 */
export async function atEachRequest(through: (at: number) => Promise<number>): Promise<number> {
  const made = await through(NEVER)
  if (made > REQUESTS_MAX) throw new Error(`more than ${REQUESTS_MAX} requests`)
  let next = 1
  let outages = 0
  let failed = false
  const goOn = async () => {
    while (!failed && next <= made) {
      const at = next++
      try {
        if ((await through(at)) >= at) outages++
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  // Waits for all runs before the failure of one is thrown, so that no run leaves its servers behind.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, goOn))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return outages
}

export async function startRedisOutage(
  targetPort: number,
  { at, forMs }: RedisOutageOptions,
): Promise<RedisOutage> {
  const sockets = new Set<Socket>()
  let requests = 0
  let awayUntil = 0
  const cutAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    if (performance.now() < awayUntil) return void client.destroy()
    const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true })
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      socket.on('error', () => {
        // One side closed the connection. The other one is closed with it.
      })
    }
    client.once('close', () => target.destroy())
    target.once('close', () => client.destroy())
    target.pipe(client)
    client.on('data', (chunk) => {
      requests += 1
      if (requests !== at) return void target.write(chunk)
      awayUntil = performance.now() + forMs
      cutAll()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    get requests() {
      return requests
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        cutAll()
      }),
  }
}
