/** A forward proxy on loopback that supports only CONNECT, and records its requests. */
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

interface TestProxy {
  port: number
  url: string
  /** `host:port` of each requested tunnel. */
  asked: string[]
  /** Proxy-Authorization of each request; '' if absent. */
  authorizations: string[]
  close(): Promise<void>
}

export interface TestProxyOptions {
  /** If set, the proxy answers with this status and opens no tunnel. */
  status?: number
  /** The host to which every tunnel leads. Default: the requested host. */
  host?: string
}

export async function startProxy({ status, host }: TestProxyOptions = {}): Promise<TestProxy> {
  const asked: string[] = []
  const authorizations: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {
      // One side of a tunnel failed. The other one is ended below.
    })
  }
  server.on('connection', keep)
  server.on('connect', ({ url = '', headers }: IncomingMessage, socket: Socket) => {
    asked.push(url)
    authorizations.push(headers['proxy-authorization'] ?? '')
    if (status !== undefined) return void socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`)
    const [, name = '', port = ''] = /^(.*):(\d+)$/.exec(url) ?? []
    const target = connect(Number(port), host ?? name.replace(/^\[|\]$/g, ''))
    keep(target)
    target.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      target.pipe(socket)
      socket.pipe(target)
    })
    target.once('close', () => socket.destroy())
    socket.once('close', () => target.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    asked,
    authorizations,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
