/**
 * Measures the cost of the AWS protocols. `publish`: CPU time of the API process and Redis per message, by SNS's
 * Publish and by the native route in alternating laps. `queue`: messages a second through ReceiveMessage and
 * DeleteMessageBatch of ten.
 */
import { freePort, waitFor } from '@fantail/test-kit'
import { Pool } from 'undici'
import { startBenchRedis, stopEveryRedis } from './processes/bench-redis.ts'
import { cpuMs, end, endOnSignals, start } from './processes/children.ts'

const PAIRS = 5
const TURN_MS = 2_000
const CONNECTIONS = 64
const QUEUE_MESSAGES = 60_000
const QUEUE_CONSUMERS = 32
const BODY = JSON.stringify({ order: 17, text: 'x'.repeat(1_000) })
const SCOPE =
  'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/sns/aws4_request, SignedHeaders=host, Signature=0'
const ARN = 'arn:aws:sns:us-east-1:000000000000:wire'

endOnSignals(stopEveryRedis)
const redis = await startBenchRedis()
const port = await freePort()
const origin = `http://127.0.0.1:${port}`
const env = {
  REDIS_URL: redis.url,
  FANTAIL_MODE: 'local',
  FANTAIL_PORT: String(port),
  FANTAIL_LOG_LEVEL: 'warn',
}
const api = start(process.execPath, ['--conditions=@fantail/source', 'services/publish-api/src/main.ts'], env)
await waitFor(async () => (await fetch(`${origin}/readyz`).catch(() => undefined))?.ok)
const pool = new Pool(origin, { connections: CONNECTIONS })
try {
  await call({ method: 'PUT', path: '/v1/topics/wire', body: '{}', headers: jsonType() })
  await publishing()
  await queueing()
} finally {
  await pool.close()
  await end(api)
  await redis.stop()
}

interface Request {
  method: 'POST' | 'PUT'
  path: string
  headers: Record<string, string>
  body: string
}

function jsonType(): Record<string, string> {
  return { 'content-type': 'application/json' }
}

async function call(request: Request): Promise<string> {
  const { statusCode, body } = await pool.request(request)
  const text = await body.text()
  if (statusCode >= 300) throw new Error(`${statusCode} ${text.slice(0, 300)}`)
  return text
}

async function publishing(): Promise<void> {
  const native: Request = {
    method: 'POST',
    path: '/v1/topics/wire/messages',
    headers: jsonType(),
    body: JSON.stringify({ message: BODY }),
  }
  const form = new URLSearchParams({ Action: 'Publish', Version: '2010-03-31', TopicArn: ARN, Message: BODY })
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: SCOPE }
  const aws: Request = { method: 'POST', path: '/', headers, body: form.toString() }
  await lap(native)
  await lap(aws)
  const ratios: number[] = []
  for (let pair = 0; pair < PAIRS; pair++) {
    const [first, second] = pair % 2 === 0 ? [native, aws] : [aws, native]
    const costs = new Map([
      [first, await lap(first)],
      [second, await lap(second)],
    ])
    const [nativeMicroseconds, awsMicroseconds] = [costs.get(native) ?? 0, costs.get(aws) ?? 0]
    ratios.push(awsMicroseconds / nativeMicroseconds)
    report({ scenario: 'publish', pair, nativeMicroseconds, awsMicroseconds, ratio: ratios.at(-1) })
  }
  report({ scenario: 'publish', median: true, ratio: ratios.toSorted((a, b) => a - b)[PAIRS >> 1] })
}

/** CPU microseconds per message. */
async function lap(request: Request): Promise<number> {
  const before = cpuMs(api.pid ?? 0) + cpuMs(redis.pid)
  const until = performance.now() + TURN_MS
  let sent = 0
  const publish = async () => {
    for (; performance.now() < until; sent++) await call(request)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, publish))
  return ((cpuMs(api.pid ?? 0) + cpuMs(redis.pid) - before) * 1_000) / sent
}

async function queueing(): Promise<void> {
  const sqs = async (action: string, input: object): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` }
    return JSON.parse(
      await call({ method: 'POST', path: '/', headers, body: JSON.stringify(input) }),
    ) as Record<string, unknown>
  }
  const { QueueUrl } = await sqs('CreateQueue', { QueueName: 'wire' })
  let filled = 0
  const fill = async () => {
    while (filled < QUEUE_MESSAGES) {
      filled += 10
      const Entries = Array.from({ length: 10 }, (_, i) => ({ Id: `${i}`, MessageBody: BODY }))
      await sqs('SendMessageBatch', { QueueUrl, Entries })
    }
  }
  await Promise.all(Array.from({ length: 16 }, fill))
  const begun = performance.now()
  let taken = 0
  const consume = async () => {
    for (;;) {
      const { Messages } = await sqs('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 })
      if (!Array.isArray(Messages)) return
      const Entries = Messages.map(({ ReceiptHandle }: { ReceiptHandle: string }, i) => ({
        Id: `${i}`,
        ReceiptHandle,
      }))
      const { Failed } = await sqs('DeleteMessageBatch', { QueueUrl, Entries })
      if (Failed) throw new Error(JSON.stringify(Failed))
      taken += Messages.length
    }
  }
  await Promise.all(Array.from({ length: QUEUE_CONSUMERS }, consume))
  const seconds = (performance.now() - begun) / 1_000
  report({ scenario: 'queue', messages: taken, seconds, messagesPerSecond: Math.round(taken / seconds) })
}

function report(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
