/**
 * The cost of the AWS protocols: CPU of API and Redis per message by SNS's Publish, against the native route in
 * alternating laps, and messages a second through ReceiveMessage and DeleteMessageBatch of ten.
 */
import { Pool } from 'undici'
import { cpuMs } from '../../processes/children.ts'
import { startDeployment } from '../../processes/deployment.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { CONNECTIONS, interleaved } from '../../stage.ts'

const PAIRS = 5
const QUICK_PAIRS = 2
const LAP_MS = 2_000
const QUEUE_MESSAGES = 60_000
const QUICK_MESSAGES = 6_000
const QUEUE_PUBLISHERS = 16
const QUEUE_CONSUMERS = 32
const BODY = JSON.stringify({ order: 17, text: 'x'.repeat(1_000) })
const SCOPE =
  'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/sns/aws4_request, SignedHeaders=host, Signature=0'
const ARN = 'arn:aws:sns:us-east-1:000000000000:wire'

export const awsWire: Scenario = {
  name: 'aws-wire',
  summary: 'CPU of a publish over the AWS protocols against the native route; messages/s out of a queue',
  run,
}

interface Request {
  method: 'POST'
  path: string
  headers: Record<string, string>
  body: string
}

const NATIVE: Request = {
  method: 'POST',
  path: '/v1/topics/wire/messages',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ message: BODY }),
}
const AWS: Request = {
  method: 'POST',
  path: '/',
  headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: SCOPE },
  body: `${new URLSearchParams({ Action: 'Publish', Version: '2010-03-31', TopicArn: ARN, Message: BODY })}`,
}

/** Sends the request and resolves with the answer's text. */
type Call = (request: Request) => Promise<string>

async function run(options: ScenarioOptions): Promise<Row[]> {
  const deployment = await startDeployment({ profileDir: options.profileDir })
  const { pid } = await deployment.startService('publish-api')
  await deployment.call('PUT', '/v1/topics/wire', {})
  const pool = new Pool(`http://127.0.0.1:${deployment.apiPort}`, { connections: CONNECTIONS })
  const call: Call = async (request) => {
    const { statusCode, body } = await pool.request(request)
    const text = await body.text()
    if (statusCode >= 300) throw new Error(`${statusCode} ${text.slice(0, 300)}`)
    return text
  }
  const usedMs = async () => cpuMs(pid) + (await deployment.server.cpuMs())
  try {
    return [await publishRow(call, usedMs, options), await queueRow(call, options)]
  } finally {
    await pool.close()
    await deployment.stop()
  }
}

async function publishRow(call: Call, usedMs: () => Promise<number>, options: ScenarioOptions): Promise<Row> {
  /** CPU microseconds per message. */
  const lapOf = (request: Request) => async () => {
    const before = await usedMs()
    const until = performance.now() + LAP_MS
    let sent = 0
    await together(CONNECTIONS, async () => {
      for (; performance.now() < until; sent++) await call(request)
    })
    return (((await usedMs()) - before) * 1_000) / sent
  }
  await interleaved(1, lapOf(AWS), lapOf(NATIVE))
  const pairs = await interleaved(options.quick ? QUICK_PAIRS : PAIRS, lapOf(AWS), lapOf(NATIVE))
  for (const [aws, native] of pairs) options.report(`AWS ${aws.toFixed(1)}, native ${native.toFixed(1)} µs`)
  const ratios = pairs.map(([aws, native]) => aws / native)
  return rowOf('publish over SNS’s protocol : native, CPU', figureOf(ratios), { unit: '×' })
}

async function queueRow(call: Call, { quick, report }: ScenarioOptions): Promise<Row> {
  const sqs = async (action: string, input: object): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` }
    return JSON.parse(await call({ method: 'POST', path: '/', headers, body: JSON.stringify(input) }))
  }
  const { QueueUrl } = await sqs('CreateQueue', { QueueName: 'wire' })
  const messages = quick ? QUICK_MESSAGES : QUEUE_MESSAGES
  let filled = 0
  await together(QUEUE_PUBLISHERS, async () => {
    while (filled < messages) {
      filled += 10
      const Entries = Array.from({ length: 10 }, (_, i) => ({ Id: `${i}`, MessageBody: BODY }))
      await sqs('SendMessageBatch', { QueueUrl, Entries })
    }
  })
  const startedAt = performance.now()
  let taken = 0
  await together(QUEUE_CONSUMERS, async () => {
    for (;;) {
      const { Messages } = await sqs('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 })
      if (!Array.isArray(Messages)) return
      const Entries = Messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }))
      const { Failed } = await sqs('DeleteMessageBatch', { QueueUrl, Entries })
      if (Failed) throw new Error(JSON.stringify(Failed))
      taken += Messages.length
    }
  })
  const seconds = (performance.now() - startedAt) / 1_000
  report(`${taken} of ${messages} messages taken in ${seconds.toFixed(1)} s`)
  return { figure: 'messages from a queue, in batches of ten', value: taken / seconds, unit: '/s' }
}

async function together(count: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, work))
}
