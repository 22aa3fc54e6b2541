/**
 * A proxy between a process and its Redis that counts round trips. A round trip is a burst of requests, and then an
 * answer.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CountingProxy {
  url: string
  /** So far, on all connections. */
  trips(): number
  stop(): void
}

/** `onWrite`: called with all commands that the process wrote at once, each as its name and arguments. */
export async function startCountingProxy(
  redisPort: number,
  onWrite?: (commands: string[][]) => void,
): Promise<CountingProxy> {
  const sockets = new Set<Socket>()
  let trips = 0
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Either side may close first. The other side is then closed too.
    socket.on('error', () => socket.destroy())
  }
  const server = createServer({ noDelay: true }, (client) => {
    const redis = connect({ port: redisPort, host: '127.0.0.1', noDelay: true })
    keep(client)
    keep(redis)
    let answered = true
    client.on('data', (written) => {
      if (answered) trips++
      answered = false
      onWrite?.(commandsIn(written))
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

/** A command is an array of byte strings: `*<words>`, then `$<bytes>` and the bytes for each word. */
function commandsIn(written: Buffer): string[][] {
  const text = written.toString('latin1')
  const commands: string[][] = []
  for (let at = 0; at < text.length; ) {
    const line = text.slice(at, text.indexOf('\r\n', at))
    at += line.length + 2
    if (line.startsWith('*')) commands.push([])
    if (!line.startsWith('$')) continue
    const end = at + Number(line.slice(1))
    commands.at(-1)?.push(text.slice(at, end))
    at = end + 2
  }
  return commands
}
