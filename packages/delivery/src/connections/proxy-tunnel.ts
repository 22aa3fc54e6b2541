/** Opens a tunnel through a forward proxy: CONNECT (RFC 9110 §9.3.6) on a socket that is open already. */
import type { Socket } from 'node:net'
import type { ProxyAddress } from '../outbound/outbound-route.ts'
import type { Origin } from './dial-facts.ts'

/** Headers of a proxy's answer. Past it: the attempt has failed. */
const HEAD_BYTES_MAX = 16_384
const HEAD_END = Buffer.from('\r\n\r\n')

/** The proxy refused the tunnel. The text has its status, never its address, which may hold credentials. */
export class ProxyError extends Error {
  constructor(reason: string) {
    super(`the proxy ${reason}`)
    this.name = 'ProxyError'
  }
}

/**
 * `done` is called once. If the socket ends or fails before, `done` is not called, and the owner of the socket must
 * handle that.
 */
export function openTunnel(
  socket: Socket,
  { host, port }: Origin,
  { authorization }: ProxyAddress,
  done: (error: Error | null) => void,
): void {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`]
  if (authorization !== undefined) lines.push(`Proxy-Authorization: ${authorization}`)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  let head: Buffer = Buffer.alloc(0)
  let interimBytes = 0
  const end = (error: Error | null) => {
    socket.off('data', read)
    socket.off('end', ended)
    socket.pause()
    done(error)
  }
  const ended = () => end(new ProxyError('closed the connection'))
  const read = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    for (let at = head.indexOf(HEAD_END); at >= 0; at = head.indexOf(HEAD_END)) {
      if (!isInterim(head)) return end(refusalOf(head, at))
      interimBytes += at + HEAD_END.length
      head = head.subarray(at + HEAD_END.length)
    }
    if (interimBytes + head.length > HEAD_BYTES_MAX) end(new ProxyError('answered with endless headers'))
  }
  socket.on('data', read)
  socket.on('end', ended)
}

/** An unexpected 1xx, which another answer follows (RFC 9110 §15.2). */
function isInterim(head: Buffer): boolean {
  return /^HTTP\/1\.[01] 1\d\d\b/.test(head.toString('latin1', 0, 'HTTP/1.1 100 '.length))
}

function refusalOf(head: Buffer, end: number): ProxyError | null {
  const status = /^HTTP\/1\.[01] (\d{3})\b/.exec(head.toString('latin1', 0, end))?.[1]
  if (status === undefined) return new ProxyError('did not answer in HTTP')
  if (!status.startsWith('2')) return new ProxyError(`answered ${status}`)
  // In TLS and HTTP the client speaks first. Bytes after the proxy's answer are therefore an error.
  return head.length > end + HEAD_END.length ? new ProxyError('sent more than its answer') : null
}
