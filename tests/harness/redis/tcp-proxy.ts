/**
 * A TCP proxy on loopback before a Redis. It can stop a connection at a chosen command: before Redis gets the command,
 * or after Redis has run it and before the reply comes back. From then on nothing passes on that connection, and other
 * connections continue. It can also be a bad network for all connections: slow, silent, or leading to another server.
 */
import { randomUUID } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { CommandReader } from './commands.ts'

export interface Trap {
  /** Called with every whole command. */
  matches(request: Buffer): boolean
  /** `before`: Redis does not get the request, or anything that was sent with it. `after`: Redis has answered it. */
  at: 'before' | 'after'
  /** The client sees a silent connection instead of a closed one. */
  silent?: boolean
  /** How long to wait for such a request; default 10 s. */
  timeoutMs?: number
}

export interface TcpProxy {
  port: number
  /** Waits for such a request on any connection. Resolves when it comes, and rejects if it does not come in time. */
  trap(trap: Trap): Promise<void>
  /** From now on, delays everything that Redis sends, and everything that it gets, by these times. */
  delayReplies(ms: number, requestsMs?: number): void
  /**
   * From now on, connections are accepted and nothing passes, or nothing in one direction. `speak` ends this, and
   * closes all connections.
   */
  mute(direction?: Direction): void
  speak(): void
  /** The port to which new connections lead. */
  leadTo(port: number): void
  close(): Promise<void>
}

type Direction = 'requests' | 'replies'

const TRAP_TIMEOUT_MS = 10_000

interface SetTrap extends Trap {
  sprung(): void
}

interface Network {
  port: number
  delayMs: number
  requestsDelayMs: number
  muted: readonly Direction[]
  /** Returns and removes the trap if it matches one of these commands. */
  takeTrap(commands: Buffer[]): SetTrap | undefined
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let set: SetTrap | undefined
  const network: Network = {
    port: targetPort,
    delayMs: 0,
    requestsDelayMs: 0,
    muted: [],
    takeTrap: (commands) => {
      if (!commands.some((command) => set?.matches(command))) return undefined
      const taken = set
      set = undefined
      return taken
    },
  }
  const server = createServer((client) => {
    const target = connect({ port: network.port, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    for (const socket of [client, target]) keep(sockets, socket)
    client.once('close', () => target.destroy())
    target.once('close', () => client.destroy())
    pass(client, target, network)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    trap: (trap) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error('no such request came')),
          trap.timeoutMs ?? TRAP_TIMEOUT_MS,
        )
        const sprung = () => {
          clearTimeout(timer)
          resolve()
        }
        set = { ...trap, sprung }
      }),
    delayReplies: (ms, requestsMs = 0) => {
      network.delayMs = ms
      network.requestsDelayMs = requestsMs
    },
    mute: (direction) => {
      network.muted = direction ? [direction] : ['requests', 'replies']
    },
    speak: () => {
      network.muted = []
      endAll()
    },
    leadTo: (port) => {
      network.port = port
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        endAll()
      }),
  }
}

function pass(client: Socket, target: Socket, network: Network): void {
  let trapped: SetTrap | undefined
  let cut = false
  const spring = (trap: SetTrap) => {
    cut = true
    trap.sprung()
    if (!trap.silent) client.destroy()
  }
  const commands = new CommandReader()
  const replies = new ReplyWatch()
  const reply = inTime(client, () => network.delayMs)
  const request = inTime(target, () => network.requestsDelayMs)
  client.on('data', (chunk) => {
    if (cut || network.muted.includes('requests')) return
    const whole = commands.read(chunk)
    const taken = trapped ? undefined : network.takeTrap(whole)
    if (taken?.at === 'before') {
      spring(taken)
      return
    }
    if (whole.length > 0) request(Buffer.concat(whole))
    if (!taken) return
    trapped = taken
    request(Buffer.from(replies.question))
  })
  target.on('data', (chunk) => {
    if (cut || network.muted.includes('replies')) return
    if (!trapped) reply(chunk)
    else if (replies.hasAnswer(chunk)) spring(trapped)
  })
}

/** Notices when Redis has answered everything that it got before a question that the proxy itself has sent. */
class ReplyWatch {
  readonly #text = randomUUID()
  #seen: Buffer = Buffer.alloc(0)

  get question(): string {
    return `*2\r\n$4\r\nECHO\r\n$${this.#text.length}\r\n${this.#text}\r\n`
  }

  /** The text may come in two pieces. */
  hasAnswer(chunk: Buffer): boolean {
    const bytes = Buffer.concat([this.#seen, chunk])
    this.#seen = bytes.subarray(-this.#text.length)
    return bytes.includes(this.#text)
  }
}

/** Writes each piece after the network's delay. One timer per piece would not keep their order. */
function inTime(to: Socket, delayMs: () => number): (chunk: Buffer) => void {
  const line: { chunk: Buffer; dueAt: number }[] = []
  const writeDue = () => {
    while (line[0] && line[0].dueAt <= performance.now()) to.write(line.shift()?.chunk ?? '')
    if (line[0]) setTimeout(writeDue, Math.ceil(line[0].dueAt - performance.now()))
  }
  return (chunk) => {
    if (line.length === 0 && delayMs() === 0) {
      to.write(chunk)
      return
    }
    line.push({ chunk, dueAt: performance.now() + delayMs() })
    if (line.length === 1) writeDue()
  }
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  socket.on('error', () => {
    // One side closed the connection. The other one is closed with it.
  })
}
