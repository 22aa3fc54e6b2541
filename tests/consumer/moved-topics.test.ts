/**
 * A topic moves from a foreign SNS and SQS, which moto serves, to Fantail and back. Messages are published all the
 * time, and no endpoint may miss one. The queue stays at moto. `npm run test:packages` runs it.
 */
import { CreateTopicCommand, PublishCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { type Receiver, startReceiver, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { followFantail, type RunningFantail, runFantail } from '../harness/services/run-fantail.ts'
import { type Stack, startStack } from '../harness/services/stack.ts'
import { type MotoServer, motoPython, startMoto } from './moto-server.ts'

const WEBHOOKS = 12
const REGION = 'eu-west-1'
const ACCOUNT = '123456789012'
const TOPIC = `arn:aws:sns:${REGION}:${ACCOUNT}:load`
const QUEUE = `arn:aws:sqs:${REGION}:${ACCOUNT}:load`
const KEYS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }

const python = process.env.FANTAIL_PACKAGES_LONG ? motoPython() : undefined

describe.skipIf(python === undefined)('a topic that moves from a foreign SNS', () => {
  let moto: MotoServer
  let stack: Stack
  let receiver: Receiver
  let sns: SNSClient
  let sqs: SQSClient
  let bridge: RunningFantail
  const published: string[] = []
  let publishing = Promise.resolve()
  let isOver = false

  beforeAll(async () => {
    moto = await startMoto(python ?? '')
    receiver = await startReceiver()
    stack = await startStack({
      env: {
        FANTAIL_ACCOUNT: ACCOUNT,
        FANTAIL_REGION: REGION,
        FANTAIL_AWS_QUEUES: JSON.stringify({ [QUEUE]: moto.url.replace('//', '//test:test@') }),
      },
    })
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
    sns = new SNSClient({ endpoint: moto.url, region: REGION, credentials })
    sqs = new SQSClient({ endpoint: moto.url, region: REGION, credentials })
    await subscribeBothSides()
    bridge = followFantail(['bridge', TOPIC, '--json'], env())
    await waitFor(() => bridge.so.stderr.includes('Ctrl-C ends it'), { what: 'the bridge' })
    publishing = publishAll()
  }, 120_000)
  afterAll(async () => {
    isOver = true
    const ended = await Promise.allSettled([publishing])
    bridge?.kill('SIGKILL')
    await bridge?.ended
    for (const client of [sns, sqs]) client?.destroy()
    await Promise.all([stack?.stop(), receiver?.close(), moto?.stop()])
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled'])
  })

  const env = () => ({ ...KEYS, FANTAIL_URL: stack.api.url, AWS_ENDPOINT_URL: moto.url })
  const fantail = (words: string) => runFantail(words.split(' '), { env: env() })
  const endpointOf = (n: number) => `${receiver.url}/${n}`

  async function subscribeBothSides() {
    await sns.send(new CreateTopicCommand({ Name: 'load' }))
    await sqs.send(new CreateQueueCommand({ QueueName: 'load' }))
    await stack.client.put('/v1/topics/load', { signing: 'sns' })
    const endpoints = Array.from({ length: WEBHOOKS }, (_, n) => endpointOf(n))
    for (const endpoint of [...endpoints, QUEUE]) {
      const Protocol = endpoint === QUEUE ? 'sqs' : 'http'
      await sns.send(new SubscribeCommand({ TopicArn: TOPIC, Protocol, Endpoint: endpoint }))
      const { id } = await stack.client.post<{ id: string }>('/v1/topics/load/subscriptions', { endpoint })
      await stack.client.post(`/v1/subscriptions/${id}/pause`)
    }
  }

  async function publishAll() {
    while (!isOver) {
      const MessageAttributes = { n: { DataType: 'Number', StringValue: String(published.length) } }
      const Message = `message ${published.length}`
      const publish = new PublishCommand({ TopicArn: TOPIC, Message, MessageAttributes })
      // moto fails a publish if the comparison has just deleted its queue.
      const answer = await sns.send(publish).catch((error: Error) => {
        if (!error.name.includes('NonExistentQueue')) throw error
      })
      const { MessageId } = answer ?? {}
      if (MessageId === undefined) continue
      published.push(MessageId)
      await waitFor(() => idsAt(0).has(MessageId), { what: 'the message', timeoutMs: 60_000 })
    }
  }

  const more = async (count: number) => {
    const from = published.length
    await waitFor(() => published.length >= from + count, { what: 'more messages', timeoutMs: 60_000 })
  }

  /** Ids that the endpoint got, each once. */
  const idsAt = (n: number) =>
    new Set(receiver.requestsTo(`/${n}`).map(({ text }) => JSON.parse(text).MessageId as string))

  /** Adds the ids that the queue at moto has got since the last call. */
  async function readQueue(into: Set<string>): Promise<void> {
    const QueueUrl = `${moto.url}/${ACCOUNT}/load`
    const asked = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 3_600 }
    for (;;) {
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(asked))
      if (Messages.length === 0) return
      for (const { Body = '' } of Messages) into.add(JSON.parse(Body).MessageId)
    }
  }

  test('both sides get the same, before anything is switched', async () => {
    const { code, stdout } = await fantail(`compare ${TOPIC} --during 3s --tail 30s --json`)
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows.filter(({ equal }) => !equal)).toEqual([])
    expect([rows.length, code]).toEqual([WEBHOOKS + 1, 0])
  }, 120_000)

  test('killed, switched, switched back and switched again: no endpoint misses a message', async () => {
    const killed = followFantail(['cutover', TOPIC, '--all', '--yes', '--json'], env())
    await waitFor(() => killed.so.stdout.includes('\n'), { what: 'the first switch' })
    killed.kill('SIGKILL')
    await killed.ended
    await more(20)
    expect((await fantail(`cutover ${TOPIC} --all --yes`)).code).toBe(0)
    const counts = receiver.requests.length
    await more(50)
    await waitFor(() => receiver.requests.length > counts, { what: 'deliveries of Fantail' })
    expect((await fantail(`cutover ${TOPIC} --all --back --settle 2s --drain 30s`)).code).toBe(0)
    await more(20)
    expect((await fantail(`cutover ${TOPIC} --all --yes`)).code).toBe(0)
    await more(20)
    isOver = true
    await publishing
    const queued = new Set<string>()
    const missing = async () => {
      await readQueue(queued)
      const got = [queued, ...Array.from({ length: WEBHOOKS }, (_, n) => idsAt(n))]
      return got.flatMap((ids, n) => published.filter((id) => !ids.has(id)).map((id) => `${n}: ${id}`))
    }
    const isWhole = async () => (await missing()).length === 0
    await waitFor(isWhole, { what: 'every message', timeoutMs: 120_000 })
    console.log(
      `${published.length} messages, ${receiver.requests.length} requests at ${WEBHOOKS} webhooks, 0 lost`,
    )
  }, 300_000)
})
