/**
 * Sends signed requests with undici's `request` to many hosts in turn, without a queue: the highest rate of one process
 * with this client and the same settings of TLS.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import { answer, type PaceResult } from '../../processes/ipc.ts'
import { monotonicMs } from '../../processes/monotonic.ts'
import { numberedText } from '../../processes/sequence.ts'

export interface TlsLoad {
  urls: string[]
  bodyBytes: number
  requests: number
  /** Requests under way. */
  concurrency: number
  /** At this rate, without waiting for answers. Default: as fast as possible. */
  perSecond?: number
  /** With a rate: requests that begin together, as the deliveries of one message do. Default: 1. */
  atOnce?: number
}

const SECRET = 'c2VjcmV0IG9mIHRoZSBiZW5jaG1hcms'
// The authority comes by NODE_EXTRA_CA_CERTS, as it does to Fantail.
const agent = new Agent({ keepAliveTimeout: 60_000 })

async function load(options: TlsLoad): Promise<PaceResult> {
  const { urls, bodyBytes, requests, concurrency, perSecond, atOnce = 1 } = options
  const result: PaceResult = { sentAt: [], refused: 0 }
  const send = async () => {
    const number = result.sentAt.push(monotonicMs()) - 1
    const status = await post(urls[number % urls.length] ?? '', numberedText(number, bodyBytes))
    if (status >= 300) result.refused++
  }
  const loop = async () => {
    while (result.sentAt.length < requests) await send()
  }
  if (perSecond === undefined) await Promise.all(Array.from({ length: concurrency }, loop))
  else await paced({ requests, perSecond, atOnce }, send)
  return result
}

async function paced(
  { requests, perSecond, atOnce }: { requests: number; perSecond: number; atOnce: number },
  send: () => Promise<void>,
): Promise<void> {
  const startedAt = performance.now()
  const sends: Promise<void>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const groups = Math.floor(((performance.now() - startedAt) * perSecond) / 1_000 / atOnce)
      const due = Math.min(requests, groups * atOnce)
      while (sends.length < due) sends.push(send())
      if (sends.length < requests) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  await Promise.all(sends)
}

async function post(url: string, text: string): Promise<number> {
  const id = `msg_${randomUUID()}`
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const sum = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${text}`).digest('base64')
  const answered = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: {
      'content-type': 'text/plain; charset=UTF-8',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${sum}`,
    },
    body: text,
  })
  await answered.body.dump()
  return answered.statusCode
}

answer({ load }, () => agent.destroy())
