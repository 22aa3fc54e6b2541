/** Sends a signed message through a worker to this machine. The topic is deleted afterwards, whatever happens. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createTopic, createWebhookKey, deleteTopic, publish, subscribe } from '@fantail/client/api'
import type { CommandContext } from '../../frame/command-context.ts'
import { durationText } from '../../output/durations.ts'
import { checkSignature } from '../messages/webhook-signature.ts'
import type { Finding } from './doctor-finding.ts'

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
