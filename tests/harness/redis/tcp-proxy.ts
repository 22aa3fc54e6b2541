/**
 * A TCP proxy on loopback before a Redis. It can cut a connection's traffic at an instant: before a request reaches
 * Redis, or after Redis has carried it out and before its reply gets back. From then on nothing passes on that
 * connection in either direction; other connections go on. Or it is a bad network for all of them: late, mute, or
 * leading elsewhere.
 */
import { randomUUID } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { CommandReader } from './commands.ts'

export interface Trap {
  /** Asked of every command, whole. */
  matches(request: Buffer): boolean
  /** `before` Redis gets the request, and what was sent with it, or `after` it has answered. */
  at: 'before' | 'after'
  /** The client sees a connection that says nothing any more, instead of one that ends. */
  silent?: boolean
  /** How long such a request is waited for; default 10 s. */
  timeoutMs?: number
}

export interface TcpProxy {
  port: number
  /** Waits for one such request, on any connection; resolves at the instant, rejects if none comes in time. */
  trap(trap: Trap): Promise<void>
  /** Everything that Redis says comes so much later from now on. */
  delayReplies(ms: number): void
  /** Connections are accepted and kept, and nothing passes; `speak` ends those that nothing passed on. */
  mute(): void
  speak(): void
  /** Where connections lead that are made from now on. */
  leadTo(port: number): void
  close(): Promise<void>
}

const TRAP_TIMEOUT_MS = 10_000

interface SetTrap extends Trap {
  sprung(): void
}

interface Network {
  port: number
  delayMs: number
  isMute: boolean
  /** The trap, where it is set for one of these commands: it is set no longer. */
  takeTrap(commands: Buffer[]): SetTrap | undefined
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let set: SetTrap | undefined
  const network: Network = {
    port: targetPort,
    delayMs: 0,
    isMute: false,
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
    delayReplies: (ms) => {
      network.delayMs = ms
    },
    mute: () => {
      network.isMute = true
    },
    speak: () => {
      network.isMute = false
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
  const reply = inTime(client, network)
  client.on('data', (chunk) => {
    if (cut || network.isMute) return
    const whole = commands.read(chunk)
    const taken = trapped ? undefined : network.takeTrap(whole)
    if (taken?.at === 'before') {
      spring(taken)
      return
    }
    if (whole.length > 0) target.write(Buffer.concat(whole))
    if (!taken) return
    trapped = taken
    target.write(replies.question)
  })
  target.on('data', (chunk) => {
    if (cut || network.isMute) return
    if (!trapped) reply(chunk)
    else if (replies.hasAnswer(chunk)) spring(trapped)
  })
}

/** Tells when Redis has answered all that it was sent before a question of the proxy's own. */
class ReplyWatch {
  readonly #text = randomUUID()
  #seen: Buffer = Buffer.alloc(0)

  get question(): string {
    return `*2\r\n$4\r\nECHO\r\n$${this.#text.length}\r\n${this.#text}\r\n`
  }

  /** Its text may come in two pieces. */
  hasAnswer(chunk: Buffer): boolean {
    const bytes = Buffer.concat([this.#seen, chunk])
    this.#seen = bytes.subarray(-this.#text.length)
    return bytes.includes(this.#text)
  }
}

/** Writes each piece as late as the network says. A timer each would not keep their order. */
function inTime(client: Socket, network: Network): (chunk: Buffer) => void {
  const line: { chunk: Buffer; dueAt: number }[] = []
  const writeDue = () => {
    while (line[0] && line[0].dueAt <= performance.now()) client.write(line.shift()?.chunk ?? '')
    if (line[0]) setTimeout(writeDue, Math.ceil(line[0].dueAt - performance.now()))
  }
  return (chunk) => {
    if (line.length === 0 && network.delayMs === 0) {
      client.write(chunk)
      return
    }
    line.push({ chunk, dueAt: performance.now() + network.delayMs })
    if (line.length === 1) writeDue()
  }
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  socket.on('error', () => {
    // One side went away: the other one is closed with it.
  })
}
