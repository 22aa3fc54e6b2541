/** The checks of `fantail doctor`: of the server, and of a signed message that a worker sends to this machine. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import {
  createTopic,
  createWebhookKey,
  deleteTopic,
  publish,
  type Readiness,
  subscribe,
} from '@fantail/client/api'
import { refusalOf } from '../../frame/api-client.ts'
import type { CommandContext } from '../../frame/command-context.ts'
import { durationText } from '../../output/durations.ts'
import { Unreachable } from '../../output/exit-codes.ts'
import { checkSignature } from '../messages/webhook-signature.ts'

export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'failed'
  detail: string
  /** The remedy. */
  fix?: string
}

/** Difference between the clocks of `fantail doctor` and the server. Past it: the check has failed. */
const CLOCK_DIFFERENCE_MS_MAX = 2_000
/** The header has whole seconds. */
const DATE_STEP_MS = 1_000

export async function* checkServer({ server, signal }: CommandContext): AsyncGenerator<Finding> {
  const { url, apiKey } = await server()
  const startedAt = Date.now()
  const answer = await fetch(`${url}/readyz`, { signal }).catch((error: unknown) => {
    throw new Unreachable(`${url} does not answer: ${(error as Error).cause ?? error}`, { cause: error })
  })
  const tookMs = Date.now() - startedAt
  const ready = (await answer.json().catch(() => undefined)) as Readiness | undefined
  if (ready?.checks === undefined) throw refusalOf(ready, answer.status, url)
  yield { check: 'server', status: 'ok', detail: `${url} answers in ${durationText(tookMs)}` }
  yield clock(answer.headers.get('date'), startedAt, tookMs)
  yield* readiness(ready)
  yield version(ready.version)
  yield* key(url, apiKey)
}

function clock(date: string | null, startedAt: number, tookMs: number): Finding {
  const check = 'clock'
  if (date === null) return { check, status: 'warning', detail: 'the server sends no Date header' }
  const early = startedAt - Date.parse(date) - DATE_STEP_MS
  const late = Date.parse(date) - (startedAt + tookMs)
  const offMs = Math.max(early, late, 0)
  if (offMs <= CLOCK_DIFFERENCE_MS_MAX) return { check, status: 'ok', detail: 'agrees with the server' }
  const fix = 'Set both clocks by NTP. Signatures of webhooks and of AWS requests depend on them.'
  return { check, status: 'failed', detail: `differs by ${durationText(offMs)} from the server's`, fix }
}

function* readiness({ status, checks, degraded }: Readiness): Generator<Finding> {
  for (const [name, state] of Object.entries(checks)) {
    const fix = '`/readyz` and the logs of the API say more.'
    if (state === 'ok') yield { check: name, status: 'ok', detail: 'ok' }
    else yield { check: name, status: 'failed', detail: String(state), fix }
  }
  for (const { reason, message } of degraded) {
    yield { check: `redis ${reason}`, status: 'warning', detail: message }
  }
  if (status === 'ready') yield { check: 'readiness', status: 'ok', detail: 'ready' }
}

function version(served: string): Finding {
  const own = ownVersion()
  if (own === served) return { check: 'version', status: 'ok', detail: `${own} here and there` }
  const fix = 'Use the command line of the same release. Members of newer ones are missing in older ones.'
  return { check: 'version', status: 'warning', detail: `${own} here, ${served} on the server`, fix }
}

/** The version of this release, which the repository and @fantail/cli have at the same place. */
function ownVersion(): string {
  const manifest = new URL('../../../../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

function* key(url: string, apiKey: string | undefined): Generator<Finding> {
  const { protocol, hostname } = new URL(url)
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if (apiKey !== undefined && protocol === 'http:' && !isLocal) {
    const fix = 'Use https: the key can be read on its way.'
    yield { check: 'key', status: 'warning', detail: 'is sent unencrypted', fix }
  }
}

/** The wait of `fantail doctor` for its test webhook. Past it: the check has failed. */
const WEBHOOK_WAIT_MS = 15_000
const TOLERANCE_MS = 300_000

export async function checkWebhook(context: CommandContext, host: string): Promise<Finding> {
  const received = Promise.withResolvers<IncomingMessage & { body: Buffer }>()
  const server = createServer(async (request, response) => {
    received.resolve(Object.assign(request, { body: await buffer(request) }))
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => void server.listen(0, resolve))
  const client = await context.api()
  const topic = `fantail-doctor-${randomUUID().slice(0, 8)}`
  const path = { topic }
  try {
    await createTopic({ client, path, body: {} })
    const { port } = server.address() as AddressInfo
    const { id } = await subscribe({ client, path, body: { endpoint: `http://${host}:${port}/` } })
    const { secret = '' } = await createWebhookKey({ client, path: { id }, body: {} })
    const startedAt = performance.now()
    await publish({ client, path, body: { message: { type: 'fantail.doctor' } } })
    const request = await inTime(received.promise)
    return judge(request, secret, performance.now() - startedAt)
  } finally {
    await deleteTopic({ client, path })
    close(server)
  }
}

async function inTime<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), WEBHOOK_WAIT_MS)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

function judge(
  request: (IncomingMessage & { body: Buffer }) | undefined,
  secret: string,
  tookMs: number,
): Finding {
  const check = 'webhook'
  if (!request) {
    const fix =
      'Is a worker running, and can it reach this machine (--host)? `fantail lanes` shows what waits.'
    return { check, status: 'failed', detail: `nothing came within ${durationText(WEBHOOK_WAIT_MS)}`, fix }
  }
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`)
  const given = { secret, toleranceMs: TOLERANCE_MS, now: Date.now() }
  const problem = checkSignature({ headers, body: request.body }, given)
  if (problem)
    return { check, status: 'failed', detail: problem.message, ...(problem.hint && { fix: problem.hint }) }
  return { check, status: 'ok', detail: `came signed after ${durationText(tookMs)}` }
}

function close(server: Server): void {
  server.close()
  server.closeAllConnections()
}
