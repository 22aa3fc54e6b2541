/** A server whose answers the test sets. It records the requests that it gets. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Asked {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

/** A status with JSON and headers, or what to do with the connection. */
type ScriptedAnswer =
  | { status: number; json?: unknown; headers?: Record<string, string> }
  | { drop: true }
  | { hang: true }

export interface ScriptedServer {
  url: string
  asked: Asked[]
  /** Accepted since the start. */
  connections: number
  /** Sets the answers, one per request. The last one is used for all further requests. */
  answer(...answers: ScriptedAnswer[]): void
  stop(): Promise<void>
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  let script: ScriptedAnswer[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    scripted.asked.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
    const answer = script.length > 1 ? script.shift() : script[0]
    give(response, answer ?? { status: 500 })
  })
  server.on('connection', () => {
    scripted.connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const scripted: ScriptedServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    connections: 0,
    answer: (...answers) => {
      script = answers
      scripted.asked = []
      scripted.connections = 0
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return scripted
}

function give(response: ServerResponse, answer: ScriptedAnswer): void {
  if ('hang' in answer) return
  if ('drop' in answer) {
    response.destroy()
    return
  }
  const { status, json, headers = {} } = answer
  response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'r-1', ...headers })
  response.end(json === undefined ? undefined : JSON.stringify(json))
}

export function errorAnswer(status: number, code: string, headers?: Record<string, string>): ScriptedAnswer {
  const json = { error: { code, message: `it is ${code}` }, requestId: 'r-1' }
  return { status, json, ...(headers && { headers }) }
}
