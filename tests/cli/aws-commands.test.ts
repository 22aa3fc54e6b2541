/**
 * `fantail bridge`, `compare` and `cutover`. Another region of the same Fantail takes the place of AWS, because it
 * speaks the same protocols. Its messages are signed as SNS signs them.
 */
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import {
  ConfirmSubscriptionCommand,
  CreateTopicCommand,
  GetSubscriptionAttributesCommand,
  PublishCommand,
  SetSubscriptionAttributesCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  PurgeQueueCommand,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { freePort, type Receiver, startReceiver, waitFor } from '@fantail/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { callFantail } from '../harness/services/call-fantail.ts'
import { untilPassed } from '../harness/services/passing-time.ts'
import { followFantail, type RunningFantail } from '../harness/services/run-fantail.ts'
import { useStack } from '../harness/services/stack.ts'

const REGION = 'eu-west-1'
/** The pause of a publisher that runs beside commands. */
const PUBLISH_EVERY_MS = 50
const stack = useStack()
const awsArn = (name: string) => `arn:aws:sns:${REGION}:000000000000:${name}`
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
let receiver: Receiver
let sns: SNSClient
let sqs: SQSClient

beforeAll(async () => {
  receiver = await startReceiver()
  process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId
  process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey
  sns = new SNSClient({ endpoint: stack().api.url, region: REGION, credentials })
  sqs = new SQSClient({ endpoint: stack().api.url, region: REGION, credentials })
})
afterAll(async () => {
  delete process.env.AWS_ACCESS_KEY_ID
  delete process.env.AWS_SECRET_ACCESS_KEY
  sns.destroy()
  sqs.destroy()
  await receiver.close()
})

const running: RunningFantail[] = []
afterEach(async () => {
  for (const { kill, ended } of running.splice(0)) {
    kill('SIGKILL')
    await ended
  }
})

const env = () => ({
  FANTAIL_URL: stack().api.url,
  AWS_ENDPOINT_URL: stack().api.url,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
})
const fantail = (words: string) => callFantail(words.trim().split(' '), { env: env() })
const objectsOf = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Starts a bridge, and waits until it copies. */
async function startBridge(words: string, settings = env()): Promise<RunningFantail> {
  const bridge = followFantail(['bridge', ...words.split(' '), '--json'], settings)
  running.push(bridge)
  await waitFor(() => bridge.so.stderr.includes('Ctrl-C ends it'), {
    what: `the bridge, not ${JSON.stringify(bridge.so)}`,
  })
  return bridge
}

async function endBridge(bridge: RunningFantail): Promise<Record<string, number>> {
  bridge.kill('SIGINT')
  const { code, stdout } = await bridge.ended
  expect(code).toBe(130)
  return objectsOf(stdout)[0]
}

const proxies: Server[] = []
afterEach(() => {
  for (const proxy of proxies.splice(0)) {
    proxy.close()
    proxy.closeAllConnections()
  }
})

/** `asked`: method, path, operation and body of a request. `pass` resolves when it was answered. */
type Passing = (asked: string, pass: () => Promise<void>) => Promise<void>

/** Passes requests on to the stack. Resolves with its URL. */
async function startProxy(passing: Passing): Promise<string> {
  const proxy = createServer(async (request, response) => {
    const { method, url: path, headers } = request
    const body = await text(request)
    const pass = async () => {
      const onward = httpRequest(new URL(path ?? '', stack().api.url), { method, headers })
      const [answer] = (await once(onward.end(body), 'response')) as [IncomingMessage]
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      await pipeline(answer, response)
    }
    await passing(`${method} ${path} ${headers['x-amz-target']} ${body}`, pass).catch(() =>
      response.destroy(),
    )
  })
  proxies.push(proxy)
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

async function hasQueue(QueueName: string): Promise<boolean> {
  try {
    await sqs.send(new GetQueueUrlCommand({ QueueName }))
    return true
  } catch (error) {
    if (error instanceof QueueDoesNotExist) return false
    throw error
  }
}

/** A topic on both sides, with a subscription of the same endpoint, which is paused at Fantail. */
async function twoSides(name: string) {
  const endpoint = `${receiver.url}/${name}`
  await sns.send(new CreateTopicCommand({ Name: name }))
  const asked = { TopicArn: awsArn(name), Protocol: 'http', Endpoint: endpoint, ReturnSubscriptionArn: true }
  const { SubscriptionArn } = await sns.send(new SubscribeCommand(asked))
  const [confirmation] = await receiver.waitForRequests(1, `/${name}`)
  const { Token } = JSON.parse(confirmation?.text ?? '')
  await sns.send(new ConfirmSubscriptionCommand({ TopicArn: awsArn(name), Token }))
  await stack().client.put(`/v1/topics/${name}`, { signing: 'sns' })
  const body = { endpoint, deliveryPolicy: CONTENT_TYPE }
  const { id } = await stack().client.post<{ id: string }>(`/v1/topics/${name}/subscriptions`, body)
  await stack().client.post(`/v1/subscriptions/${id}/pause`)
  return { id, aws: SubscriptionArn ?? '' }
}

const CONTENT_TYPE = { requestPolicy: { headerContentType: 'text/plain; charset=UTF-8' } }

const MessageAttributes = { kind: { DataType: 'String', StringValue: 'order' } }
const publish = async (name: string, Message: string) =>
  (await sns.send(new PublishCommand({ TopicArn: awsArn(name), Message, MessageAttributes }))).MessageId ?? ''

/** Envelopes of a message that the endpoint got from both sides. */
const requestsOf = (name: string, id: string) =>
  receiver
    .requestsTo(`/${name}`)
    .map(({ text }) => JSON.parse(text))
    .filter(({ MessageId }) => MessageId === id)

/** Messages in a queue of the region that stands for AWS. */
async function countsOf(queue: string): Promise<number> {
  const path = `/v1/queues/arn:aws:sqs:${REGION}:000000000000:${queue}`
  const { counts } = await stack().client.get<{ counts: { visible: number; inFlight: number } }>(path)
  return counts.visible + counts.inFlight
}

/**
 * Publishes until `work` has ended, each time after the bridges have copied everything. Without waits, the loop would
 * fill a processor.
 */
async function publishDuring(work: Promise<unknown>, topics: string[], publishAll: () => Promise<unknown>) {
  let isOver = false
  void work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await publishAll()
    await untilPassed(PUBLISH_EVERY_MS)
    for (const topic of topics) await waitFor(async () => (await countsOf(`fantail-bridge-${topic}`)) === 0)
  }
}

interface Seen {
  status: string
  metadata: Record<string, string>
  lane: { waiting: number }
}
const seen = (id: string) => stack().client.get<Seen>(`/v1/subscriptions/${id}`)
const laneOf = async (id: string) => (await seen(id)).lane

const publishHere = async (name: string) => {
  const body = { message: 'published at Fantail' }
  return (await stack().client.post<{ messageId: string }>(`/v1/topics/${name}/messages`, body)).messageId
}

const filterOf = async (SubscriptionArn: string) =>
  (await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))).Attributes?.FilterPolicy

const queueArn = (name: string) => `arn:aws:sqs:${REGION}:000000000000:${name}`
const OWNER = { Sid: 'owner', Effect: 'Allow', Principal: '*', Action: 'sqs:SendMessage' }

/** A queue at AWS, to which everybody may send. Resolves with its URL. */
async function makeQueue(QueueName: string): Promise<string> {
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [OWNER] })
  const Attributes = { MessageRetentionPeriod: '1209600', Policy }
  return (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? ''
}

/** Subscribes a queue at AWS that nobody reads, such as that of a bridge that stands still. */
async function subscribeQueue(topic: string, queue: string): Promise<string> {
  const QueueUrl = await makeQueue(queue)
  const asked = { TopicArn: awsArn(topic), Protocol: 'sqs', Endpoint: queueArn(queue) }
  await sns.send(new SubscribeCommand(asked))
  return QueueUrl
}

test('a bridge copies through a queue, with ids and attributes, once and in no circle', async () => {
  const { id } = await twoSides('queued')
  const first = await startBridge(awsArn('queued'))
  const published = await publish('queued', 'hello')
  await waitFor(async () => (await laneOf(id)).waiting === 1)
  await stack().client.post(`/v1/subscriptions/${id}/resume`)
  await waitFor(() => requestsOf('queued', published).length === 2)
  const [original, copy] = requestsOf('queued', published)
  expect(copy.MessageAttributes).toEqual(original.MessageAttributes)
  expect(await endBridge(first)).toEqual({ copied: 1, repeated: 0, own: 0, refused: 0, failed: 0 })
  const late = await publish('queued', 'while the bridge is away')
  const [second, circle] = await Promise.all([
    startBridge(awsArn('queued')),
    startBridge(`${awsArn('queued')} --to ${awsArn('queued')} --queue circle`),
  ])
  const last = await publish('queued', 'last')
  await waitFor(() => [late, last].every((one) => requestsOf('queued', one).length >= 2))
  await endBridge(second)
  await waitFor(async () => (await countsOf('circle')) === 0)
  const { copied = 0, own = 0, repeated = 0 } = await endBridge(circle)
  // The message of this Fantail is copied once if the bridge is faster than the outcome log.
  expect([copied <= 1, own + repeated > 0]).toEqual([true, true])
  expect((await fantail(`bridge ${awsArn('queued')} --end --json`)).stdout).toBe(
    '{"unsubscribed":"fantail-bridge-queued"}\n',
  )
  expect((await fantail(`bridge ${awsArn('queued')} --end`)).code).toBe(3)
})

test('a bridge by requests trusts only what SNS has signed, and copies a repeated request once', async () => {
  await twoSides('requested')
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}/`
  const bridge = await startBridge(`${awsArn('requested')} --endpoint ${endpoint} --port ${port}`)
  const counts = async () => (await fetch(endpoint)).json() as Promise<Record<string, number>>
  await waitFor(async () => {
    await publish('requested', 'signed')
    return (await counts()).copied !== 0
  })
  const [sent] = receiver.requestsTo((request) => request.text.includes('"Message" : "signed"'))
  const post = async (body = '') => (await fetch(endpoint, { method: 'POST', body })).status
  // It may have been published before the bridge was confirmed.
  expect(await post(sent?.text)).toBe(200)
  const { repeated = 0 } = await counts()
  expect(await post(sent?.text)).toBe(200)
  expect((await counts()).repeated).toBe(repeated + 1)
  expect(await post(sent?.text.replace('signed', 'forged'))).toBe(403)
  expect(await post('{}')).toBe(403)
  expect(await endBridge(bridge)).toMatchObject({ refused: 2, failed: 0 })
})

describe('a topic with a bridge', () => {
  let sides: Awaited<ReturnType<typeof twoSides>>
  let bridge: RunningFantail
  beforeAll(async () => {
    sides = await twoSides('moved')
    bridge = await startBridge(awsArn('moved'))
    running.pop()
  })
  afterAll(async () => {
    bridge.kill('SIGKILL')
    await bridge.ended
  })

  test('compare finds what differs, message by message and header by header', async () => {
    const port = await freePort()
    const compare = async (words: string) => {
      const ended = fantail(`compare ${awsArn('moved')} --during 1s --json ${words}`)
      await publishDuring(ended, ['moved'], () => publish('moved', 'compared'))
      const { code, stdout } = await ended
      return { code, row: objectsOf(stdout)[0] }
    }
    const queued = await compare('')
    expect(queued).toMatchObject({ code: 9, row: { onlyAws: [], onlyFantail: [], setting: null } })
    expect(Object.keys(queued.row.differ)).toEqual(['TopicArn'])
    const requested = await compare(`--endpoint http://127.0.0.1:${port} --port ${port}`)
    expect(requested.row).toMatchObject({ onlyAws: [], onlyFantail: [] })
    expect(Object.keys(requested.row.differ).sort()).toEqual(['TopicArn', 'header x-amz-sns-topic-arn'])
  }, 60_000)

  test('cutover loses nothing, goes on after a kill, and has a way back', async () => {
    const { id, aws } = sides
    const published: string[] = []
    let isOver = false
    const publishing = (async () => {
      while (!isOver) {
        const sent = await publish('moved', String(published.length))
        published.push(sent)
        await untilPassed(PUBLISH_EVERY_MS)
        await waitFor(() => requestsOf('moved', sent).length > 0)
        // The way back waits for a moment at which the bridge has copied everything.
        await waitFor(async () => (await countsOf('fantail-bridge-moved')) === 0)
      }
    })()
    const cutover = async (words: string) => {
      const { code, stdout, stderr } = await fantail(`cutover ${awsArn('moved')} --json ${words}`)
      return { code, stderr, rows: objectsOf(stdout) }
    }
    await waitFor(async () => (await laneOf(id)).waiting > 5)
    expect(await cutover('--all --plan')).toMatchObject({ code: 0, rows: [{ side: 'aws', problem: null }] })
    const shown = (await fantail(`cutover ${awsArn('moved')} --all --plan`)).stdout
    expect(shown).toMatch(
      /would be switched to Fantail, and \d+ waiting messages discarded that AWS delivers\n/,
    )
    expect((await cutover('--all')).code).toBe(2)
    expect(await cutover('--all --yes')).toMatchObject({
      code: 0,
      rows: [{ side: 'fantail', mayComeTwice: { from: expect.any(String) } }],
    })
    expect(await filterOf(aws)).toBe('{"fantail-cutover":["off"]}')
    const plans = await Promise.all(
      ['--plan', '--plan --back'].map((words) => fantail(`cutover ${awsArn('moved')} --all ${words}`)),
    )
    expect(plans.map(({ stdout }) => stdout.trim().split('  ').at(-1))).toEqual([
      'stays there',
      'would be switched to AWS',
    ])
    expect((await cutover('--all --yes')).rows).toMatchObject([{ side: 'fantail', mayComeTwice: null }])
    // The state after a kill before AWS was switched off.
    const set = { SubscriptionArn: aws, AttributeName: 'FilterPolicy', AttributeValue: '{}' }
    await sns.send(new SetSubscriptionAttributesCommand(set))
    expect((await cutover('--all --plan')).rows).toMatchObject([{ side: 'both' }])
    expect((await cutover('--all --yes')).rows).toMatchObject([{ side: 'fantail' }])
    const alone = published.length
    await waitFor(() => published.length > alone + 5)
    expect((await cutover('--all --back --settle 1s')).rows).toMatchObject([{ side: 'aws' }])
    expect(await filterOf(aws)).toBeUndefined()
    const back = published.length
    await waitFor(() => published.length > back + 5)
    isOver = true
    await publishing
    await waitFor(() => published.every((one) => requestsOf('moved', one).length > 0))
    const other = { SubscriptionArn: aws, AttributeName: 'FilterPolicy', AttributeValue: '{"a":["b"]}' }
    await sns.send(new SetSubscriptionAttributesCommand(other))
    expect(await cutover('--all --yes')).toMatchObject({
      code: 8,
      rows: [],
      stderr: expect.stringContaining('the filter policies differ'),
    })
  }, 60_000)
})

test('a pattern bridges, compares and switches all its topics, and names those that are missing here', async () => {
  const names = ['many-a', 'many-b']
  const ids: string[] = []
  for (const name of names) ids.push((await twoSides(name)).id)
  await sns.send(new CreateTopicCommand({ Name: 'many-c' }))
  const pattern = awsArn('many-*')
  const bridge = await startBridge(pattern)
  expect(bridge.so.stderr).toContain('many-c does not exist at Fantail')
  expect(bridge.so.stderr).toContain('copying 2 topics')
  const compared = fantail(`compare ${pattern} --during 1s --json`)
  await publishDuring(compared, names, async () => {
    for (const name of names) await publish(name, 'compared')
  })
  const { stdout, stderr } = await compared
  expect(objectsOf(stdout).map(({ topic, onlyAws, onlyFantail }) => [topic, onlyAws, onlyFantail])).toEqual([
    ['many-a', [], []],
    ['many-b', [], []],
  ])
  expect(stderr).toContain('0 of 2 subscriptions get the same')
  const cutover = (words: string) => fantail(`cutover ${pattern} ${words}`)
  expect(await cutover('--endpoint http://127.0.0.1:*/many-b --plan')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`aws      ${receiver.url}/many-b of many-b  would be switched`),
    stderr: expect.stringContaining('1 subscription: aws 1; 0 cannot be switched'),
  })
  expect(await cutover('--all --to other')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--to is for one topic'),
  })
  expect((await cutover('--all --yes')).code).toBe(0)
  const published = await Promise.all(names.map((name) => publish(name, 'after the switch')))
  await waitFor(() => names.every((name, n) => requestsOf(name, published[n] ?? '').length === 1))
  expect((await cutover('--all --back --settle 1ms')).code).toBe(0)
  for (const id of ids) expect(await seen(id)).toMatchObject({ status: 'paused', metadata: {} })
  expect(await fantail(`bridge ${pattern} --end --json`)).toMatchObject({
    code: 0,
    stdout: names.map((name) => `{"unsubscribed":"fantail-bridge-${name}"}\n`).join(''),
  })
}, 60_000)

test('a cutover needs a bridge, or publishers that publish at Fantail', async () => {
  const { id, aws } = await twoSides('bare')
  const here = await publishHere('bare')
  const cutover = (words: string) => fantail(`cutover ${awsArn('bare')} --all --json ${words}`)
  expect(await cutover('--plan')).toMatchObject({
    code: 8,
    stderr: expect.stringContaining('no bridge fantail-bridge-bare is subscribed at AWS'),
  })
  expect((await cutover('--yes')).code).toBe(5)
  expect([await filterOf(aws), (await seen(id)).status]).toEqual([undefined, 'paused'])
  expect((await cutover('--yes --no-bridge')).code).toBe(0)
  await waitFor(() => requestsOf('bare', here).length === 1)
  const { code, stdout } = await cutover('--back --no-bridge')
  expect([code, objectsOf(stdout)]).toEqual([0, [expect.objectContaining({ side: 'both' })]])
  expect([await filterOf(aws), (await seen(id)).status]).toEqual([undefined, 'active'])
})

test('the way back leaves and discards nothing that only Fantail has', async () => {
  const { id } = await twoSides('still')
  const QueueUrl = await subscribeQueue('still', 'fantail-bridge-still')
  const cutover = (words: string) => fantail(`cutover ${awsArn('still')} --all --json ${words}`)
  expect((await cutover('--yes')).code).toBe(0)
  await publish('still', 'not copied yet')
  await waitFor(async () => (await countsOf('fantail-bridge-still')) === 1)
  expect(await cutover('--back --settle 1ms --drain 1ms')).toMatchObject({
    code: 8,
    stderr: expect.stringContaining('the bridge has not yet copied what is in the queue'),
  })
  expect(await seen(id)).toMatchObject({ status: 'active', metadata: { 'fantail-cutover': 'alone' } })
  // The state after a kill, or after a 410, before everything was delivered.
  await stack().client.post(`/v1/subscriptions/${id}/pause`)
  const only = await publishHere('still')
  await waitFor(async () => (await laneOf(id)).waiting === 1)
  expect(objectsOf((await cutover('--plan')).stdout)).toMatchObject([{ side: 'both' }])
  expect((await cutover('--yes')).code).toBe(0)
  await waitFor(() => requestsOf('still', only).length === 1)
  expect((await fantail(`bridge ${awsArn('still')} --end`)).code).toBe(2)
  await sqs.send(new PurgeQueueCommand({ QueueUrl }))
  expect((await cutover('--back --settle 1ms')).code).toBe(0)
  const { status, metadata } = await seen(id)
  expect([status, metadata]).toEqual(['paused', {}])
})

test('a bridge keeps what the policy of its queue allows, and what Fantail refuses', async () => {
  await sns.send(new CreateTopicCommand({ Name: 'shared' }))
  await stack().client.put('/v1/topics/shared', { eventTypeCheck: 'refuse' })
  const QueueUrl = await makeQueue('shared')
  const bridge = await startBridge(`${awsArn('shared')} --queue shared`)
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['Policy'] })
  const { Attributes } = await sqs.send(asked)
  expect(JSON.parse(Attributes?.Policy ?? '').Statement).toEqual([
    OWNER,
    expect.objectContaining({ Condition: { ArnEquals: { 'aws:SourceArn': awsArn('shared') } } }),
  ])
  expect((await fantail(`bridge ${awsArn('other')} --to shared --queue shared`)).code).toBe(5)
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'no envelope' }))
  await publish('shared', 'without an event type')
  await waitFor(() => bridge.so.stderr.split('is now in the queue shared-refused').length === 3)
  expect(await endBridge(bridge)).toMatchObject({ copied: 0, refused: 2, failed: 0 })
  expect([await countsOf('shared-refused'), await countsOf('shared')]).toEqual([2, 0])
})

test('a comparison that is ended early or killed leaves nothing behind', async () => {
  await twoSides('compared')
  await subscribeQueue('compared', 'fantail-bridge-compared')
  const ended = await fantail(`compare ${awsArn('compared')} --during 1h --timeout 2s`)
  expect(ended).toMatchObject({ code: 7, stderr: expect.not.stringContaining('was not removed') })
  // The bridge is no subscriber.
  expect(ended.stderr).not.toContain('is subscribed at AWS only')
  const path = '/v1/topics/compared/subscriptions'
  expect((await stack().client.get<{ subscriptions: object[] }>(path)).subscriptions).toHaveLength(1)
  await subscribeQueue('compared', 'fantail-compare-left')
  const { code, stdout } = await fantail(`compare ${awsArn('compared')} --end --json`)
  expect([code, objectsOf(stdout)]).toEqual([
    0,
    [{ unsubscribed: queueArn('fantail-compare-left') }, { deletedQueue: 'fantail-compare-left' }],
  ])
  expect(await hasQueue('fantail-compare-left')).toBe(false)
})

/** A queue to which topics may send, as that of a comparison. */
async function makeTwinQueue(QueueName: string, senders: string | string[]): Promise<void> {
  const Condition = { ArnLike: { 'aws:SourceArn': senders } }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [{ ...OWNER, Condition }] })
  await sqs.send(new CreateQueueCommand({ QueueName, Attributes: { Policy } }))
}

/** A queue for refused messages, as a bridge makes it. */
const makeRefusedQueue = (name: string) => {
  const Attributes = { MessageRetentionPeriod: '1209600' }
  return sqs.send(new CreateQueueCommand({ QueueName: `fantail-bridge-${name}`, Attributes }))
}

test('a comparison deletes its queues when no topic sends to them any more, and no others', async () => {
  const names = ['twin-a', 'twin-b']
  for (const name of names) await twoSides(name)
  const pattern = awsArn('twin-*')
  const order: string[] = []
  const proxy = await startProxy(async (asked, pass) => {
    const what = /Unsubscribe|DeleteQueue|DELETE \/v1\/\w+/.exec(asked)?.[0]
    if (what === 'DeleteQueue' || what === 'DELETE /v1/queues') order.push('queue')
    await pass()
    if (what === 'Unsubscribe' || what === 'DELETE /v1/subscriptions') order.push('unsubscribed')
  })
  const through = { ...env(), FANTAIL_URL: proxy, AWS_ENDPOINT_URL: proxy }
  const compare = (words: string) => callFantail(['compare', ...words.split(' ')], { env: through })
  expect((await compare(`${pattern} --during 1ms --tail 1ms`)).code).toBe(0)
  expect(order).toEqual([...Array(4).fill('unsubscribed'), ...Array(2).fill('queue')])

  await makeTwinQueue('fantail-compare-both', pattern)
  await makeTwinQueue('fantail-compare-early', pattern)
  await makeTwinQueue('fantail-compare-others', awsArn('*'))
  await makeTwinQueue('fantail-compare-shared', [pattern, awsArn('another')])
  const Endpoint = queueArn('fantail-compare-both')
  for (const name of names)
    await sns.send(new SubscribeCommand({ TopicArn: awsArn(name), Protocol: 'sqs', Endpoint }))
  const alone = await compare(`${awsArn('twin-a')} --end --json`)
  expect(objectsOf(alone.stdout)).toEqual([{ unsubscribed: Endpoint }])
  expect(alone.stderr).toContain('the queue fantail-compare-both stays, because other topics send to it')
  order.length = 0
  const { code, stdout } = await compare(`${pattern} --end --json`)
  expect([code, objectsOf(stdout)[0]]).toEqual([0, { unsubscribed: Endpoint }])
  expect(order).toEqual(['unsubscribed', 'queue', 'queue'])
  const left = ['both', 'early', 'others', 'shared'].map((name) => hasQueue(`fantail-compare-${name}`))
  expect(await Promise.all(left)).toEqual([false, false, true, true])
})

test('the end of a bridge deletes the empty queues that it has made, and no others', async () => {
  const names = ['gone-a', 'gone-b', 'gone-c', 'gone-d', 'gone-e']
  for (const name of [...names, 'gone-a-refused']) {
    await sns.send(new CreateTopicCommand({ Name: name }))
    await stack().client.put(`/v1/topics/${name}`)
  }
  const pattern = awsArn('gone-*')
  const ended = await startBridge(pattern)
  await endBridge(ended)
  const urlOf = async (queue: string) =>
    (await sqs.send(new GetQueueUrlCommand({ QueueName: `fantail-bridge-${queue}` }))).QueueUrl ?? ''
  await publish('gone-b', 'not copied yet')
  for (const name of ['gone-b-refused', 'gone-d-refused']) await makeRefusedQueue(name)
  await sqs.send(new SendMessageCommand({ QueueUrl: await urlOf('gone-d-refused'), MessageBody: 'refused' }))
  const Condition = { ArnEquals: { 'aws:SourceArn': [awsArn('gone-c'), awsArn('other')] } }
  const allow = async (name: string, Statement: object[]) => {
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
    await sqs.send(new SetQueueAttributesCommand({ QueueUrl: await urlOf(name), Attributes: { Policy } }))
  }
  await allow('gone-c', [{ ...OWNER, Condition }])
  const own = { ArnEquals: { 'aws:SourceArn': awsArn('gone-e') } }
  await allow('gone-e', [
    { ...OWNER, Condition: own },
    { ...OWNER, Sid: 'anybody' },
  ])
  await waitFor(async () => (await countsOf('fantail-bridge-gone-b')) === 1)

  const end = async (words: string) => {
    const { code, stdout, stderr } = await fantail(`bridge ${words} --end --delete-queues --settle 1s --json`)
    const deleted = objectsOf(stdout).flatMap(({ deletedQueue = [] }) => deletedQueue)
    return { code, stderr, deleted: deleted.sort() }
  }
  expect((await end(`${awsArn('gone-a')} --queue fantail-bridge-gone-a`)).code).toBe(2)
  expect((await fantail(`bridge ${awsArn('gone-a')} --delete-queues`)).code).toBe(2)
  const first = await end(pattern)
  const bridgeOf = (name: string) => `fantail-bridge-${name}`
  expect(first).toMatchObject({ code: 8, deleted: ['gone-a', 'gone-a-refused', 'gone-d'].map(bridgeOf) })
  expect(first.stderr.split('\n').filter((line) => line.includes('stays'))).toEqual([
    expect.stringContaining('fantail-bridge-gone-b stays, because it is not empty. Let `fantail bridge '),
    expect.stringContaining('fantail-bridge-gone-b-refused stays, because fantail-bridge-gone-b stays'),
    expect.stringContaining('fantail-bridge-gone-c stays, because its policy is not that of a bridge'),
    expect.stringContaining('fantail-bridge-gone-d-refused stays, because it is not empty. Copy its'),
    expect.stringContaining('fantail-bridge-gone-e stays, because its policy is not that of a bridge'),
  ])
  const left = ['gone-b', 'gone-b-refused', 'gone-c', 'gone-d-refused', 'gone-e'].map(bridgeOf)
  expect(await Promise.all(left.map(hasQueue))).toEqual(Array(5).fill(true))

  // The queue of refused messages is now that of a bridge with a name that was given.
  const words = `${awsArn('gone-d')} --queue fantail-bridge-gone-d-refused`
  await endBridge(await startBridge(words))
  await sqs.send(new PurgeQueueCommand({ QueueUrl: await urlOf('gone-d-refused') }))
  await sqs.send(new PurgeQueueCommand({ QueueUrl: await urlOf('gone-b') }))
  const second = await end(pattern)
  expect(second).toMatchObject({ code: 8, deleted: ['gone-b', 'gone-b-refused'].map(bridgeOf) })
  expect(second.stderr).toContain('fantail-bridge-gone-d-refused stays, because a bridge reads it')
  expect((await fantail(`bridge ${words} --end`)).code).toBe(0)
  expect(await end(awsArn('gone-d'))).toMatchObject({ code: 0, deleted: ['fantail-bridge-gone-d-refused'] })
  expect((await end(awsArn('gone-d'))).code).toBe(3)
}, 60_000)

test('the end of a bridge keeps a queue that gets a message between the two looks', async () => {
  await sns.send(new CreateTopicCommand({ Name: 'late' }))
  await stack().client.put('/v1/topics/late')
  await endBridge(await startBridge(awsArn('late')))
  const QueueUrl = (await sqs.send(new GetQueueUrlCommand({ QueueName: 'fantail-bridge-late' }))).QueueUrl
  let looks = 0
  const proxy = await startProxy(async (asked, pass) => {
    await pass()
    const isFirst = asked.includes('ApproximateNumberOfMessages') && ++looks === 1
    if (isFirst) await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'late' }))
  })
  const words = ['bridge', awsArn('late'), '--end', '--delete-queues', '--settle', '1ms']
  expect(await callFantail(words, { env: { ...env(), AWS_ENDPOINT_URL: proxy } })).toMatchObject({
    code: 8,
    stderr: expect.stringContaining('fantail-bridge-late stays, because it is not empty'),
  })
  expect([looks, await hasQueue('fantail-bridge-late')]).toEqual([2, true])
}, 60_000)

test('a topic whose bridge has caught up goes back while many others are still busy', async () => {
  const names = Array.from({ length: 9 }, (_, n) => `full-${n}`)
  const ids: string[] = []
  const urls: string[] = []
  for (const name of names) {
    ids.push((await twoSides(name)).id)
    urls.push(await subscribeQueue(name, `fantail-bridge-${name}`))
  }
  const pattern = awsArn('full-*')
  expect((await fantail(`cutover ${pattern} --all --yes`)).code).toBe(0)
  for (const name of names) await publish(name, 'not copied yet')
  const isFull = async (name: string) => (await countsOf(`fantail-bridge-${name}`)) === 1
  await waitFor(async () => (await Promise.all(names.map(isFull))).every(Boolean))
  const words = ['cutover', pattern, '--all', '--back', '--settle', '1ms', '--drain', '10m']
  const back = followFantail(words, env())
  running.push(back)
  await waitFor(() => back.so.stderr.includes('AWS is on again'), { what: 'AWS' })
  await sqs.send(new PurgeQueueCommand({ QueueUrl: urls.at(-1) }))
  const statuses = () => Promise.all(ids.map(async (id) => (await seen(id)).status))
  await waitFor(async () => (await statuses()).at(-1) === 'paused', { what: 'the ninth topic' })
  expect((await statuses()).slice(0, -1)).toEqual(Array(8).fill('active'))
}, 60_000)

test('a bridge of many topics copies a bounded number of messages at a time, and all of them in the end', async () => {
  const names = Array.from({ length: 14 }, (_, n) => `wide-${n.toString().padStart(2, '0')}`)
  for (const name of names) {
    await sns.send(new CreateTopicCommand({ Name: name }))
    await stack().client.put(`/v1/topics/${name}`)
  }
  const gate = Promise.withResolvers<void>()
  let [now, most] = [0, 0]
  const proxy = await startProxy(async (asked, pass) => {
    const isCopy = /^POST \/v1\/topics\/.*messages/.test(asked)
    if (!isCopy) return pass()
    most = Math.max(most, ++now)
    await gate.promise
    await pass()
    now--
  })
  const bridge = await startBridge(awsArn('wide-*'), { ...env(), FANTAIL_URL: proxy })
  for (let n = 0; n < 4; n++) for (const name of names) await publish(name, String(n))
  const taken = async () => {
    const paths = names.map((name) => `/v1/queues/${queueArn(`fantail-bridge-${name}`)}`)
    const found = await Promise.all(
      paths.map((path) => stack().client.get<{ counts: { inFlight: number } }>(path)),
    )
    return found.reduce((sum, { counts }) => sum + counts.inFlight, 0)
  }
  await waitFor(async () => now >= 50 && (await taken()) === 56, { what: 'all messages in the bridge' })
  gate.resolve()
  const isEmpty = async (name: string) => (await countsOf(`fantail-bridge-${name}`)) === 0
  await waitFor(async () => (await Promise.all(names.map(isEmpty))).every(Boolean))
  expect(await endBridge(bridge)).toMatchObject({ copied: 56, failed: 0 })
  expect(most).toBe(50)
}, 60_000)

test('a pattern has * in the name only', async () => {
  for (const arn of ['arn:aws:sns:*:000000000000:a', 'arn:aws:sns:eu-west-1:*:a', 'arn:*:sns:eu-west-1:*:a*'])
    expect(await fantail(`cutover ${arn} --all --plan`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`only the name of the topic may have *, not the rest of ${arn}`),
    })
})

test('a pattern of FIFO topics is bridged, compared and switched as one of others is', async () => {
  const names = ['line-a.fifo', 'line-b.fifo']
  const Attributes = { FifoQueue: 'true' }
  const ids: string[] = []
  for (const name of names) {
    await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes }))
    await sns.send(new CreateTopicCommand({ Name: name, Attributes: { FifoTopic: 'true' } }))
    const Endpoint = queueArn(name)
    await sns.send(new SubscribeCommand({ TopicArn: awsArn(name), Protocol: 'sqs', Endpoint }))
    await stack().client.put(`/v1/topics/${name}`, { fifo: true })
    const body = { protocol: 'sqs', endpoint: Endpoint }
    const path = `/v1/topics/${name}/subscriptions`
    const { id } = await stack().client.post<{ id: string }>(path, body)
    await stack().client.post(`/v1/subscriptions/${id}/pause`)
    ids.push(id)
  }
  const pattern = awsArn('line-*.fifo')
  let count = 0
  const publishAll = async () => {
    count++
    for (const name of names) {
      const group = { MessageGroupId: 'one', MessageDeduplicationId: String(count) }
      await sns.send(new PublishCommand({ TopicArn: awsArn(name), Message: String(count), ...group }))
    }
  }
  const bridge = await startBridge(pattern)
  expect(bridge.so.stderr).toContain('copying 2 topics')
  const compared = fantail(`compare ${pattern} --during 1s --json`)
  await publishDuring(compared, names, publishAll)
  const { stdout } = await compared
  const rows = objectsOf(stdout)
  expect(rows.map(({ topic, onlyAws, onlyFantail }) => [topic, onlyAws, onlyFantail])).toEqual(
    names.map((name) => [name, [], []]),
  )
  for (const { delayMs } of rows) expect(delayMs.fantail).toEqual(expect.any(Number))
  expect((await fantail(`cutover ${pattern} --all --yes`)).code).toBe(0)
  await publishAll()
  const received = async (name: string) => {
    const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: name }))
    const texts: string[] = []
    await waitFor(async () => {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
      )
      for (const { Body = '', ReceiptHandle } of Messages) {
        texts.push(JSON.parse(Body).Message)
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
      }
      return texts.at(-1) === String(count)
    })
    // The messages that the bridge had not copied at the switch come twice.
    return [...new Set(texts)]
  }
  const all = Array.from({ length: count }, (_, n) => String(n + 1))
  for (const name of names) expect(await received(name)).toEqual(all)
  expect((await fantail(`cutover ${pattern} --all --back --settle 1ms`)).code).toBe(0)
  for (const id of ids) expect(await seen(id)).toMatchObject({ status: 'paused', metadata: {} })
  expect(objectsOf((await fantail(`bridge ${pattern} --end --json`)).stdout)).toEqual(
    ['line-a', 'line-b'].map((name) => ({ unsubscribed: `fantail-bridge-${name}.fifo` })),
  )
}, 60_000)

provesCommands('tests/cli/aws-commands.test.ts')
