/**
 * A TCP proxy on loopback before a Redis that can cut a connection's traffic at an instant: before a request reaches
 * Redis, or after Redis has carried it out and before its reply gets back. From then on nothing passes on that connection
 * in either direction; other connections go on.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Trap {
  /** Asked of every request as it arrives, whole. */
  matches(request: Buffer): boolean
  /** `before` Redis gets the request, or `after` it has answered. */
  at: 'before' | 'after'
  /** The client sees a connection that says nothing any more, instead of one that ends. */
  silent?: boolean
}

export interface TcpProxy {
  port: number
  /** Waits for one such request, on any connection; resolves at the instant, rejects where none comes in 10 s. */
  trap(trap: Trap): Promise<void>
  close(): Promise<void>
}

const TRAP_TIMEOUT_MS = 10_000

interface SetTrap extends Trap {
  sprung(): void
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let set: SetTrap | undefined
  const takeTrap = (chunk: Buffer): SetTrap | undefined => {
    if (!set?.matches(chunk)) return undefined
    const taken = set
    set = undefined
    return taken
  }
  const server = createServer((client) => {
    const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    for (const socket of [client, target]) keep(sockets, socket)
    client.once('close', () => target.destroy())
    target.once('close', () => client.destroy())
    pass(client, target, takeTrap)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    trap: (trap) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('no such request came')), TRAP_TIMEOUT_MS)
        const sprung = () => {
          clearTimeout(timer)
          resolve()
        }
        set = { ...trap, sprung }
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function pass(client: Socket, target: Socket, takeTrap: (chunk: Buffer) => SetTrap | undefined): void {
  let trapped: SetTrap | undefined
  let cut = false
  const spring = (trap: SetTrap) => {
    cut = true
    trap.sprung()
    if (!trap.silent) client.destroy()
  }
  client.on('data', (chunk) => {
    if (cut) return
    if (trapped) {
      target.write(chunk)
      return
    }
    trapped = takeTrap(chunk)
    if (trapped?.at === 'before') spring(trapped)
    else target.write(chunk)
  })
  target.on('data', (chunk) => {
    if (cut) return
    if (trapped) spring(trapped)
    else client.write(chunk)
  })
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  socket.on('error', () => {
    // One side went away: the other one is closed with it.
  })
}
