/**
 * A standard queue that 51 tenants share, each with a message group. The scenario measures how long the messages of 50
 * quiet tenants wait for a consumer: first alone, then while the other tenant has 100,000 messages waiting.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { startDeployment } from '../../processes/deployment.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'

const QUIET_TENANTS = 50
const NOISY_MESSAGES = 100_000
const QUICK_MESSAGES = 5_000
const SENDERS = 16
/**
 * Each receives one message, works on it, and deletes it. Beside the noisy tenant all of them are at work, so a quiet
 * message also waits until one is free. With 16 consumers that alone has a p99 of 11 ms, and with 32 of 6 ms.
 */
const CONSUMERS = 32
const WORK_MS = 40
/** Each time, the next quiet tenant sends a message. */
const SEND_EVERY_MS = 20
const LAP_MS = 20_000
const QUICK_LAP_MS = 3_000
const ROUNDS = 3
const SLOWER_FACTOR = 1.5
const SLOWER_MS = 10

export const fairQueues: Scenario = {
  name: 'fair-queues',
  summary: '50 quiet tenants of a queue beside one with 100,000 waiting messages: p99 from send to receive',
  run,
}

type Sqs = (action: string, input: object) => Promise<Record<string, unknown>>

async function run(options: ScenarioOptions): Promise<Row[]> {
  const pairs: { calm: number; noisy: number }[] = []
  for (let round = 0; round < (options.quick ? 1 : ROUNDS); round++) {
    const pair = await measurePair(options)
    options.report(`p99 alone ${pair.calm.toFixed(1)} ms, beside the noisy one ${pair.noisy.toFixed(1)} ms`)
    pairs.push(pair)
  }
  const calm = figureOf(pairs.map((pair) => pair.calm))
  return [
    rowOf('send to receive of quiet tenants, p99', figureOf(pairs.map((pair) => pair.noisy)), {
      unit: 'ms',
      atMost: SLOWER_FACTOR * calm.median + SLOWER_MS,
      note: `alone ${calm.median.toFixed(1)} ms`,
    }),
  ]
}

async function measurePair({ quick, profileDir }: ScenarioOptions) {
  const deployment = await startDeployment({ profileDir })
  await deployment.startService('publish-api')
  const pool = new Pool(`http://127.0.0.1:${deployment.apiPort}`, { connections: SENDERS + CONSUMERS })
  const sqs: Sqs = async (action, input) => {
    const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` }
    const request = { method: 'POST', path: '/', headers, body: JSON.stringify(input) } as const
    const { statusCode, body } = await pool.request(request)
    const text = await body.text()
    if (statusCode >= 300) throw new Error(`${action}: ${statusCode} ${text.slice(0, 300)}`)
    return text === '' ? {} : JSON.parse(text)
  }
  try {
    const { QueueUrl } = await sqs('CreateQueue', { QueueName: 'shared' })
    const lapMs = quick ? QUICK_LAP_MS : LAP_MS
    // The first lap opens connections and compiles code.
    await measureLap(sqs, QueueUrl, QUICK_LAP_MS)
    const calm = await measureLap(sqs, QueueUrl, lapMs)
    await fill(sqs, QueueUrl, quick ? QUICK_MESSAGES : NOISY_MESSAGES)
    const noisy = await measureLap(sqs, QueueUrl, lapMs)
    return { calm, noisy }
  } finally {
    await pool.close()
    await deployment.stop()
  }
}

async function fill(sqs: Sqs, QueueUrl: unknown, messages: number): Promise<void> {
  let filled = 0
  const send = async () => {
    while (filled < messages) {
      filled += 10
      const Entries = Array.from({ length: 10 }, (_, i) => ({
        Id: `${i}`,
        MessageBody: 'noisy',
        MessageGroupId: 'noisy',
      }))
      await sqs('SendMessageBatch', { QueueUrl, Entries })
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, send))
}

/** Consumers work while quiet tenants send. Returns the 99th percentile of the time from a send to its receive. */
async function measureLap(sqs: Sqs, QueueUrl: unknown, lapMs: number): Promise<number> {
  const until = performance.now() + lapMs
  const dwellMs: number[] = []
  let sent = 0
  const send = async () => {
    for (; performance.now() < until; await sleep(SEND_EVERY_MS)) {
      const MessageGroupId = `quiet-${sent++ % QUIET_TENANTS}`
      await sqs('SendMessage', { QueueUrl, MessageBody: String(performance.now()), MessageGroupId })
    }
  }
  const consume = async () => {
    while (performance.now() < until || dwellMs.length < sent) {
      const { Messages } = await sqs('ReceiveMessage', { QueueUrl, WaitTimeSeconds: 1 })
      for (const { Body, ReceiptHandle } of (Messages ?? []) as { Body: string; ReceiptHandle: string }[]) {
        if (Body !== 'noisy') dwellMs.push(performance.now() - Number(Body))
        await sleep(WORK_MS)
        await sqs('DeleteMessage', { QueueUrl, ReceiptHandle })
      }
    }
  }
  await Promise.all([send(), ...Array.from({ length: CONSUMERS }, consume)])
  return dwellMs.sort((a, b) => a - b)[Math.floor(dwellMs.length * 0.99)] ?? Number.NaN
}
