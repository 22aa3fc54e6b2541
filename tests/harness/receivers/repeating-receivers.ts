/** Receivers that make most deliveries take two requests. */
import { onRawRequest, type Receiver, startRawServer, steadyNow } from '@fantail/test-kit'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

export interface Resetting {
  url: string
  /** Times of every request, epoch ms with fractions. */
  times: number[]
  /** Bodies of the requests that were answered 200. */
  taken: string[]
  close(): Promise<void>
}

/** Answers the first request of each connection, and resets the connection at the second one. */
export async function startResetting(): Promise<Resetting> {
  const times: number[] = []
  const taken: string[] = []
  const server = await startRawServer((socket) =>
    onRawRequest(socket, (request, n) => {
      times.push(steadyNow())
      if (n > 1) {
        socket.resetAndDestroy()
        return
      }
      taken.push(request.slice(request.indexOf('\r\n\r\n') + 4))
      socket.write(OK)
    }),
  )
  return { url: server.url, times, taken, close: () => server.close() }
}

/** Asks for Digest with nonces that are valid for one request. Returns the endpoint with credentials. */
export function answerNoncesOnce(receiver: Receiver, path: string): string {
  const nonces = new Set<string>()
  let given = 0
  receiver.respond(path, ({ headers }) => {
    const nonce = /nonce="([^"]+)"/.exec(headers.authorization ?? '')?.[1] ?? ''
    if (nonces.delete(nonce)) return {}
    const next = `nonce-${given++}`
    nonces.add(next)
    const challenge = `Digest realm="hooks", qop="auth", nonce="${next}"`
    return { status: 401, headers: { 'www-authenticate': challenge } }
  })
  return `${receiver.url.replace('//', '//user:word@')}${path}`
}
