/**
 * The providers of all endpoint kinds in one process: functions, a stream, text messages, push and SMTP. It records
 * when each numbered message first arrived at each provider. Any provider can be told to hang.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startMailServer } from '@fantail/test-kit'
import { answer } from '../../processes/ipc.ts'
import { monotonicMs } from '../../processes/monotonic.ts'
import { readSequence } from '../../processes/sequence.ts'

const arrivals = new Map<string, Map<number, number>>()
let hung: string | undefined

function arrived(provider: string, text: Buffer): void {
  const number = readSequence(text, 0, text.length)
  if (number < 0) return
  const numbers = arrivals.get(provider) ?? new Map<number, number>()
  if (!numbers.has(number)) numbers.set(number, monotonicMs())
  arrivals.set(provider, numbers)
}

/** Answers by the first part of the path. */
const ANSWERS: Record<string, (body: Buffer) => object> = {
  webhook: () => ({}),
  function: () => ({}),
  sms: () => ({}),
  v1: () => ({ name: 'projects/bench/messages/1' }),
  token: () => ({ access_token: 'bench', expires_in: 3_600 }),
  stream: (body) => ({
    FailedPutCount: 0,
    RequestResponses: recordsIn(body).map((_, i) => ({ RecordId: String(i) })),
  }),
}

function recordsIn(body: Buffer): Buffer[] {
  const { Records } = JSON.parse(body.toString()) as { Records: { Data: string }[] }
  return Records.map(({ Data }) => Buffer.from(Data, 'base64'))
}

async function onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray())
  const [, first = ''] = (request.url ?? '').split('/')
  const provider = first === 'v1' ? 'push' : first
  if (hung === provider) return
  for (const text of provider === 'stream' ? recordsIn(body) : [body]) arrived(provider, text)
  response.end(JSON.stringify(ANSWERS[first]?.(body) ?? {}))
}

const server = createServer(onRequest)
const mail = await startMailServer()
mail.onMail = ({ raw }) => {
  if (hung === 'mail') return new Promise(() => undefined)
  arrived('mail', raw)
  return undefined
}

server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  answer({
    urls: () => ({ http: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, smtp: mail.url }),
    hang: (provider: string) => {
      hung = provider
    },
    /** Number and time of each first arrival, by provider. */
    arrivals: () => [...arrivals].map(([provider, numbers]) => [provider, [...numbers]]),
  })
})
