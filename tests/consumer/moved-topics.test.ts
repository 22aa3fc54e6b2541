/**
 * A topic moves from a foreign SNS and SQS, which moto serves, to Fantail and back, and then a whole account of 200
 * topics, 2,000 subscriptions and 300 queues. Messages are published all the time, and no endpoint may miss one. The
 * queues stay at moto. `npm run test:packages` runs it.
 */
import { CreateTopicCommand, PublishCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { type Receiver, startReceiver, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { snapshotOf } from '../harness/aws/account-snapshot.ts'
import {
  type Ended,
  followFantail,
  type RunningFantail,
  runFantail,
} from '../harness/services/run-fantail.ts'
import { type Stack, startStack } from '../harness/services/stack.ts'
import { type MotoServer, motoPython, startMoto } from './moto-server.ts'
import * as account from './moved-account.ts'

const WEBHOOKS = 12
const REGION = 'eu-west-1'
const ACCOUNT = '123456789012'
const TOPIC = `arn:aws:sns:${REGION}:${ACCOUNT}:load`
const QUEUE = `arn:aws:sqs:${REGION}:${ACCOUNT}:load`
/** Subscriptions of the large account that can come over. */
const COUNT = account.SIZE.subscriptions - 5
const KEYS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }

/** Prints why the command failed. One that a signal has ended has no exit code. */
function toldIfFailed(words: string, ended: Ended): Ended {
  const { code, stderr } = ended
  if (code) console.log(`\`fantail ${words}\` ended with ${code}:\n${stderr}`)
  return ended
}

async function toldRun(words: string, env: Record<string, string>): Promise<Ended> {
  return toldIfFailed(words, await runFantail(words.split(' '), { env }))
}

function toldFollow(words: string, env: Record<string, string>): RunningFantail {
  const running = followFantail(words.split(' '), env)
  return { ...running, ended: running.ended.then((ended) => toldIfFailed(words, ended)) }
}

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
    bridge = toldFollow(`bridge ${TOPIC} --json`, env())
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
  const fantail = (words: string) => toldRun(words, env())
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
    const killed = toldFollow(`cutover ${TOPIC} --all --yes --json`, env())
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

describe.skipIf(python === undefined)('an account with hundreds of topics that moves', () => {
  let moto: MotoServer
  let stack: Stack
  let receiver: Receiver
  let ledger: account.MoveLedger
  let sns: SNSClient
  let sqs: SQSClient
  /** SNS of the side at which publishers publish now. */
  let side: SNSClient
  let here: SNSClient
  let bridge: RunningFantail | undefined
  let publishing: Promise<unknown> = Promise.resolve()
  let isOver = false
  const minutes: Record<string, string> = {}

  beforeAll(async () => {
    moto = await startMoto(python ?? '', { hasOneKey: true })
    receiver = await startReceiver()
    ledger = new account.MoveLedger(receiver)
    const place = { FANTAIL_ACCOUNT: ACCOUNT, FANTAIL_REGION: REGION }
    const queues = { [`arn:aws:sqs:${REGION}:${ACCOUNT}:queue-*`]: moto.url.replace('//', '//test:test@') }
    stack = await startStack({ env: { ...place, FANTAIL_AWS_QUEUES: JSON.stringify(queues) } })
    const settings = { region: REGION, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }
    sns = new SNSClient({ ...settings, endpoint: moto.url })
    sqs = new SQSClient({ ...settings, endpoint: moto.url })
    here = new SNSClient({ ...settings, endpoint: stack.api.url })
    side = sns
    await timed('make the account', () => account.makeAccount({ sns, sqs }, receiver.url))
  }, 900_000)
  afterAll(async () => {
    isOver = true
    const ended = await Promise.allSettled([publishing])
    bridge?.kill('SIGKILL')
    await bridge?.ended
    for (const client of [sns, sqs, here]) client?.destroy()
    await Promise.all([stack?.stop(), receiver?.close(), moto?.stop()])
    console.log(minutes)
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled'])
  }, 120_000)

  const env = () => ({ ...KEYS, AWS_REGION: REGION, FANTAIL_URL: stack.api.url, AWS_ENDPOINT_URL: moto.url })
  const fantail = (words: string) => timed(words.replace(account.PATTERN, '*'), () => toldRun(words, env()))

  async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
    const from = Date.now()
    const result = await run()
    minutes[what] = ((Date.now() - from) / 60_000).toFixed(2)
    return result
  }

  async function startBridge(): Promise<void> {
    const started = toldFollow(`bridge ${account.PATTERN} --json`, env())
    bridge = started
    const is = () => started.so.stderr.includes(`copying ${account.SIZE.topics} topics`)
    await timed('bridge', () => waitFor(is, { what: 'the bridge', timeoutMs: 300_000 }))
  }

  /** Publishes to one topic after the other, with kinds, regions and amounts that change. */
  async function publishAll(): Promise<void> {
    for (let n = 0; !isOver; n++) {
      const topic = n % account.SIZE.topics
      const nth = Math.floor(n / account.SIZE.topics)
      const [kind, region] = [nth % 2 ? 'refund' : 'order', nth % 3 ? 'eu-1' : 'us-1'] as const
      const sent: account.Sent = { id: `${topic}-${nth}`, topic, kind, region, amount: (nth % 4) * 30 }
      const texts = Object.entries({ kind, region })
      const MessageAttributes = Object.fromEntries(
        texts.map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
      )
      const asked = { TopicArn: account.topicArn(topic), Message: JSON.stringify(sent), MessageAttributes }
      const isKnown = await side.send(new PublishCommand(asked)).then(
        () => true,
        (error: Error & { $metadata?: { httpStatusCode?: number } }) => {
          // moto fails a publish, with the queue's error or with 500, if the comparison has just deleted a queue of the
          // topic. Some subscriptions may have got the message, and no one is owed it.
          const isOfMoto = side === sns && error.$metadata?.httpStatusCode === 500
          if (!isOfMoto && !error.name.includes('NonExistentQueue')) throw error
          return false
        },
      )
      if (isKnown) ledger.published.push(sent)
    }
  }

  /** Waits until every topic has got so many messages more. */
  const publishMore = async (count: number) => {
    const from = ledger.published.length
    const least = from + count * account.SIZE.topics
    const arePublished = waitFor(() => ledger.published.length >= least, {
      what: 'the messages',
      timeoutMs: 1_200_000,
    })
    // A publisher that has failed publishes no more.
    await timed(`${count} messages to each topic, after ${from}`, () =>
      Promise.race([arePublished, publishing]),
    )
  }
  const rowsOf = (stdout: string) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))

  test('it is imported, compared, switched over and back, and no receiver misses a message', async () => {
    const before = await snapshotOf({ sns, sqs })
    const plan = await fantail('import sns --plan --json')
    const lost = rowsOf(plan.stdout).filter(({ what }) => what === 'lost')
    const listed = Object.fromEntries(lost.map(({ text, objects }) => [text, objects.length]))
    console.log(listed, plan.stderr.split('\n').at(-2))
    expect(listed).toEqual(account.LOSSES)
    expect((await fantail('import sns --yes --quiet')).code).toBe(0)
    expect((await fantail('import sns --plan --quiet')).code).toBe(0)
    await startBridge()
    publishing = publishAll()
    await publishMore(1)
    const seconds = Math.ceil(60 * Number(Object.entries(minutes).at(-1)?.[1])) + 20
    const compared = await fantail(`compare ${account.PATTERN} --during ${seconds * 2}s --tail 5m --json`)
    const rows = rowsOf(compared.stdout)
    console.log(
      compared.stderr.trim().split('\n').slice(-2),
      rows.reduce((sum, { same }) => sum + same, 0),
    )
    expect(rows.filter(({ equal }) => !equal)).toEqual([])
    expect([rows.length, compared.code]).toEqual([COUNT, 0])
    expect(rows.filter(({ endpoint, same }) => endpoint.endsWith('/0') && same === 0)).toEqual([])

    expect((await fantail(`cutover ${account.PATTERN} --all --plan --json`)).code).toBe(0)
    const killed = toldFollow(`cutover ${account.PATTERN} --all --yes --json`, env())
    await waitFor(() => killed.so.stdout.split('\n').length > COUNT / 3, {
      what: 'a third of the switches',
      timeoutMs: 300_000,
    })
    killed.kill('SIGKILL')
    bridge?.kill('SIGKILL')
    await Promise.all([killed.ended, bridge?.ended, stack.worker(0).restart()])
    await startBridge()
    const over = await fantail(`cutover ${account.PATTERN} --all --yes --json`)
    expect([over.code, rowsOf(over.stdout).length]).toEqual([0, COUNT])
    await publishMore(1)
    side = here
    await publishMore(4)
    side = sns
    await publishMore(1)
    const back = await fantail(`cutover ${account.PATTERN} --all --back --settle 2s --drain 5m --json`)
    expect(back.stderr).not.toContain('was not switched')
    expect([back.code, rowsOf(back.stdout).filter((row) => row.side === 'aws').length]).toEqual([0, COUNT])
    const { fantail: requestsBefore } = requestsNow()
    await publishMore(2)
    expect(requestsNow().fantail).toBe(requestsBefore)
    isOver = true
    await publishing
    const isWhole = async () => {
      ledger.readRequests()
      await ledger.readQueues(sqs, moto.url)
      return ledger.balance().missing.length === 0
    }
    await timed('the last deliveries', () => waitFor(isWhole, { what: 'every message', timeoutMs: 600_000 }))
    expect((await fantail(`bridge ${account.PATTERN} --end --yes --quiet`)).code).toBe(0)
    const { missing, due, twice, unwanted } = ledger.balance()
    console.log({
      messages: ledger.published.length,
      requests: ledger.requests,
      due,
      missing: missing.length,
      twice,
      unwanted,
    })
    expect([missing, unwanted]).toEqual([[], 0])
    const after = await snapshotOf({ sns, sqs })
    expect(withoutEmpty(after.subscriptions)).toEqual(withoutEmpty(before.subscriptions))
    expect(after.topics).toEqual(before.topics)
  }, 3_600_000)

  /** moto keeps an empty filter policy, which SNS removes. */
  const withoutEmpty = (all: Record<string, Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(all).map(([name, { FilterPolicy = {}, FilterPolicyScope, ...rest }]) => {
        const hasFilter = Object.keys(FilterPolicy as object).length > 0
        return [name, { ...rest, ...(hasFilter && { FilterPolicy, FilterPolicyScope }) }]
      }),
    )

  const requestsNow = () => {
    ledger.readRequests()
    return { ...ledger.requests }
  }
})
