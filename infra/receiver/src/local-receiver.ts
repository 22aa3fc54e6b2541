/** The receiver's HTTP server: it counts and shows every request, and its path decides the answer. */
import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { foreignHostText, type OwnHosts } from '@fantail/config'
import { isObject, objectOf } from '@fantail/contracts'
import { printable } from '@fantail/policy'
import { Arrivals } from './arrivals.ts'
import { ANSWER, type Behaviour, behaviourOf } from './behaviour.ts'
import type { Mails } from './mail-sink.ts'
import { pushBehaviour, pushSetting, takePush } from './push-service.ts'

/** The largest message takes less than this, even escaped in its envelope. */
const BODY_BYTES_MAX = 4 * 1024 * 1024
const PATHS = [
  '/ok',
  '/status/503',
  '/flaky/3',
  '/slow/5000',
  '/hang',
  '/sms',
  '/push/…',
  '/vapid',
  '/service-account',
  '/2015-03-31/functions/…/invocations',
]

interface ReceiverOptions {
  /** Host names under which the receiver shows arrivals. Pages of other sites must not read the messages and tokens. */
  ownHosts: OwnHosts
  /** Mails to show in addition to the requests. Default: none. */
  mails?: Pick<Mails, 'list'>
  /** Gets one line per request. */
  print: (line: string) => void
}

/** Not listening yet. */
export function createReceiver({ print: write, ownHosts, mails }: ReceiverOptions): Server {
  const arrivals = new Arrivals()
  const print = (line: string) => write(printable(line))
  return createServer((request, response) => {
    void handle(request, response, { arrivals, mails, print, ownHosts }).catch((error: Error) => {
      // The client closed the connection during the request, so no answer is possible.
      print(`gave up on ${request.method} ${request.url}: ${error.message}`)
      response.destroy()
    })
  })
}

interface Context extends ReceiverOptions {
  arrivals: Arrivals
}

async function handle(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const { arrivals, mails, print, ownHosts } = context
  const method = request.method ?? 'GET'
  const target = request.url ?? '/'
  const path = target.split('?', 1)[0] ?? '/'
  if (path === '/' && method === 'GET') {
    const { host } = request.headers
    if (!ownHosts.has(host)) return answer(response, 403, { error: foreignHostText(String(host)) })
    return answer(response, 200, { received: arrivals.list(), mails: mails?.list() ?? [] })
  }
  const { headers } = request
  if (isOfForeignPage(headers, ownHosts))
    return answer(response, 403, { error: 'pages of other sites are refused' })
  const setting = method === 'GET' ? pushSetting(path, `http://${headers.host}`) : undefined
  if (setting) return answer(response, 200, setting)
  const bytes = await readBody(request)
  const pushed = takePush(path, bytes)
  const sent = pushed?.text ?? bytes.toString()
  const records = takeRecords(headers['x-amz-target'], sent)
  const body = records?.text ?? sent
  const messageId = messageIdOf(request, body)
  const attempt = arrivals.count(target, messageId ?? pushed?.name ?? null)
  const type = headers['x-amz-invocation-type']
  const known = functionBehaviour(path, type, attempt) ?? behaviourOf(path, attempt)
  const behaviour = (pushed ? pushBehaviour(pushed, attempt) : known) ?? (records && ANSWER)
  if (!behaviour) return answer(response, 404, { error: `no such path; here are ${PATHS.join(', ')}` })
  const { status, delayMs } = behaviour
  const at = new Date().toISOString()
  arrivals.add({ at, method, path: target, messageId, attempt, status, headers, body })
  print(
    `received ${method} ${target} messageId=${shownId(messageId)} attempt=${attempt} → ${status ?? 'hangs'}`,
  )
  const link = confirmLinkOf(request, body)
  if (link !== null) print(`  asks to be confirmed: curl -sS ${quoted(link)}`)
  if (status === null) return
  if (delayMs > 0) await delay(delayMs)
  answer(response, status, pushed?.answerOf(status) ?? records?.answer ?? { received: messageId })
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Error(`a body of more than ${BODY_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The link that confirms a subscription, or that restores it after its end. null: the request has none. */
function confirmLinkOf(request: IncomingMessage, body: string): string | null {
  if (!String(request.headers['x-amz-sns-message-type']).endsWith('Confirmation')) return null
  const link = /"SubscribeURL"\s*:\s*"([^"]+)"/.exec(body)?.[1] ?? ''
  return /^https?:\/\//.test(link) && URL.canParse(link) ? link : null
}

/** One word for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** An id that could look like other parts of the line is quoted. */
function shownId(messageId: string | null): string {
  if (messageId === null) return 'none'
  return /^[\w.:-]{1,128}$/.test(messageId) ? messageId : JSON.stringify(messageId)
}

/** Whether a browser sends the request for a page of another site. Such a page could invent arrivals. */
function isOfForeignPage({ origin, ...headers }: IncomingHttpHeaders, ownHosts: OwnHosts): boolean {
  const site = headers['sec-fetch-site']
  if (site === 'cross-site' || site === 'same-site') return true
  return origin !== undefined && !(URL.canParse(origin) && ownHosts.has(new URL(origin).host))
}

/** From the header of every delivery, or else from an envelope. */
function messageIdOf(request: IncomingMessage, body: string): string | null {
  const header = request.headers['x-amz-sns-message-id']
  if (typeof header === 'string') return header
  return /"MessageId"\s*:\s*"([^"]+)"/.exec(body)?.[1] ?? null
}

function answer(response: ServerResponse, status: number, value: unknown): void {
  // These statuses have no body.
  const body = status === 204 || status === 304 ? '' : `${JSON.stringify(value, null, 2)}\n`
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-requestid': randomUUID() })
  response.end(body)
}

/**
 * The receiver as Lambda's invoke API. Every name is a function that accepts its event. Functions named `flaky-3`,
 * `status-404`, `slow-5000` and `hang` behave like the paths with these words.
 */
const INVOCATION = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/
/** Accepted, and runs later. */
const ACCEPTED = 202

/** Undefined if the path is no invocation. `type`: the header X-Amz-Invocation-Type. */
function functionBehaviour(
  path: string,
  type: string | string[] | undefined,
  attempt: number,
): Behaviour | undefined {
  const [, name] = INVOCATION.exec(path) ?? []
  if (name === undefined) return undefined
  const asked = behaviourOf(`/${name.replace('-', '/')}`, attempt)
  const { status, delayMs } = asked ?? { status: 200, delayMs: 0 }
  return { status: status === 200 && type === 'Event' ? ACCEPTED : status, delayMs }
}

const TARGET = 'Firehose_20150804.PutRecordBatch'

interface TakenRecords {
  /** The texts of all records, which are in base64 in the request. */
  text: string
  /** The answer of Firehose. */
  answer: object
}

/** Undefined if the request is not for Firehose. `target`: the header X-Amz-Target. */
function takeRecords(target: string | string[] | undefined, body: string): TakenRecords | undefined {
  if (target !== TARGET) return undefined
  const { Records } = objectOf(body) ?? {}
  const records: unknown[] = Array.isArray(Records) ? Records : []
  const RequestResponses = records.map(() => ({ RecordId: randomUUID() }))
  return {
    text: records.map(textOf).join(''),
    answer: { FailedPutCount: 0, Encrypted: false, RequestResponses },
  }
}

function textOf(record: unknown): string {
  const data = isObject(record) ? record.Data : undefined
  return typeof data === 'string' ? Buffer.from(data, 'base64').toString() : ''
}
