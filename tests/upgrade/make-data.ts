/**
 * Makes `before-topic-queues.jsonl`: the stored data of a release whose topics have no dead-letter queues of their own.
 * It takes a checkout of that release (commit d883f7b) with its packages installed:
 *
 *     node --conditions=@fantail/source tests/upgrade/make-data.ts ../fantail-d883f7b
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  ConfirmSubscriptionCommand,
  CreateTopicCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { connect, whenReady } from '@fantail/store'
import { type Receiver, startReceiver, startRedis, waitFor } from '@fantail/test-kit'
import { RestClient } from '../harness/services/rest-client.ts'
import { type ServiceName, ServiceProcess } from '../harness/services/service-process.ts'
import { dumpLines } from './stored-data.ts'
import { MASTER_KEY, type StoredRelease, type StoredView } from './stored-release.ts'

const FILE = new URL('before-topic-queues.jsonl', import.meta.url)
const ABOUT = 'Data of commit d883f7b: one line per key of Redis. tests/upgrade/make-data.ts made it.'
const COMMAND = 'node --conditions=@fantail/source tests/upgrade/make-data.ts <checkout of d883f7b>'
const HIDDEN_SECONDS = 600
const SCOPES = ['publish', 'read', 'manage', 'redrive', 'consume']

interface Made {
  client: RestClient
  receiver: Receiver
  subscriptions: Record<string, string>
  messages: Record<string, string>
}

const checkout = resolve(process.argv[2] ?? '')
const dataDir = mkdtempSync(join(tmpdir(), 'fantail-upgrade-'))
const redis = await startRedis()
const receiver = await startReceiver()
const env = {
  REDIS_URL: redis.url,
  FANTAIL_MODE: 'server',
  FANTAIL_HOST: '127.0.0.1',
  FANTAIL_PORT: '0',
  FANTAIL_OPS_PORT: '0',
  FANTAIL_DATA_DIR: dataDir,
  FANTAIL_MASTER_KEY: MASTER_KEY,
  FANTAIL_ALLOW_PRIVATE_ENDPOINTS: 'true',
  FANTAIL_RETRY_JITTER: '0',
}
const service = (name: ServiceName) => new ServiceProcess(name, name, env, checkout)
const [api, worker, redrive] = [service('publish-api'), service('delivery-worker'), service('redrive')]
const connection = connect({ url: redis.url, name: 'dump' })
try {
  await whenReady(connection)
  await Promise.all([api.start(), worker.start()])
  const token = createKey()
  const client = new RestClient(() => api.url, { authorization: `Bearer ${token}` })
  const made: Made = { client, receiver, subscriptions: {}, messages: {} }
  const aws = await subscribeOverAws(made)
  const webhookSecret = await deliver(made)
  await leaveInQueues(made)
  const redrives = await startRedrives(made)
  await failOnce(made)
  await worker.stop()
  await leaveUndispatched(made)
  const subscriptions = await viewsOf(made)
  await client.close()
  await api.stop()
  const [seconds, microseconds] = await connection.time()
  const head: StoredRelease = {
    about: ABOUT,
    command: COMMAND,
    madeAt: Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000),
    receiver: receiver.url,
    token,
    aws,
    webhookSecret,
    subscriptions,
    messages: made.messages,
    redrives,
  }
  const lines = [JSON.stringify(head), ...(await dumpLines(connection))]
  writeFileSync(FILE, `${lines.join('\n')}\n`)
  console.log(`${lines.length - 1} keys`)
} finally {
  connection.disconnect()
  await Promise.all([api.stop(), worker.stop(), redrive.stop(), receiver.close()])
  await redis.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

function createKey(...options: string[]): string {
  const words = [
    'keys',
    'create',
    '--name',
    'upgrade',
    '--quiet',
    ...SCOPES.flatMap((scope) => ['--scope', scope]),
  ]
  const { PATH = '', HOME = '' } = process.env
  const run = { cwd: checkout, env: { PATH, HOME, ...env }, encoding: 'utf8' } as const
  return execFileSync(process.execPath, ['infra/bin/fantail.mjs', ...words, ...options], run).trim()
}

async function subscribeOverAws({ receiver, subscriptions }: Made): Promise<StoredRelease['aws']> {
  const [accessKeyId = '', secretAccessKey = ''] = createKey('--aws').split(':')
  const credentials = { accessKeyId, secretAccessKey }
  const sns = new SNSClient({ endpoint: api.url, region: 'us-east-1', credentials, maxAttempts: 1 })
  const { TopicArn } = await sns.send(new CreateTopicCommand({ Name: 'aws' }))
  const asked = { TopicArn, Protocol: 'http', Endpoint: `${receiver.url}/aws`, ReturnSubscriptionArn: true }
  const { SubscriptionArn = '' } = await sns.send(new SubscribeCommand(asked))
  const [question] = await receiver.waitForRequests(1, '/aws')
  const { Token } = JSON.parse(question?.text ?? '{}') as { Token: string }
  await sns.send(new ConfirmSubscriptionCommand({ TopicArn, Token }))
  sns.destroy()
  subscriptions.aws = SubscriptionArn.split(':').at(-1) ?? ''
  return credentials
}

async function subscribe(
  { client, receiver, subscriptions }: Made,
  topic: string,
  set: object = {},
): Promise<string> {
  const body = { endpoint: `${receiver.url}/${topic.replace('.', '-')}`, ...set }
  const { id } = await client.post<{ id: string }>(`/v1/topics/${topic}/subscriptions`, body)
  subscriptions[topic] = id
  return id
}

async function publish(
  { client, messages }: Made,
  topic: string,
  text: string,
  set: object = {},
): Promise<void> {
  const answer = await client.post<{ messageId: string }>(`/v1/topics/${topic}/messages`, {
    message: text,
    ...set,
  })
  messages[text] = answer.messageId
}

/** Messages that were delivered, wait in lanes, or are dead letters. Returns the secret of a webhook key. */
async function deliver(made: Made): Promise<string> {
  const { client, receiver } = made
  const retryOnce = { healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 1 } }
  await client.put('/v1/topics/discards', { deliveryPolicy: retryOnce })
  for (const topic of ['kept', 'held', 'later', 'signed', 'throttled'])
    await client.put(`/v1/topics/${topic}`)
  for (const queue of ['letters', 'jobs', 'pushed', 'ordered.fifo']) await client.put(`/v1/queues/${queue}`)
  await client.put('/v1/topics/ordered.fifo')
  await subscribe(made, 'discards')
  await subscribe(made, 'throttled', { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 5 } } })
  const redrivePolicy = { deadLetterTargetArn: 'letters' }
  await subscribe(made, 'kept', { redrivePolicy })
  await client.post(`/v1/subscriptions/${await subscribe(made, 'held')}/pause`)
  await client.post(`/v1/subscriptions/${await subscribe(made, 'ordered.fifo')}/pause`)
  await client.post('/v1/topics/ordered.fifo/subscriptions', { endpoint: 'ordered.fifo', protocol: 'sqs' })
  const signed = await subscribe(made, 'signed', { filterPolicy: { color: ['red'] } })
  const key = await client.post<{ secret: string }>(`/v1/subscriptions/${signed}/webhook-keys`, {})
  receiver.respond('/kept', { status: 404 })
  for (const n of [1, 2, 3]) {
    await publish(made, 'kept', `letter ${n}`)
    await publish(made, 'held', `held ${n}`)
  }
  for (const text of ['a1', 'a2', 'b1']) {
    await publish(made, 'ordered.fifo', text, { groupId: text.charAt(0), deduplicationId: text })
  }
  await publish(made, 'discards', 'taken')
  await receiver.waitForRequests(1, '/discards')
  await waitFor(async () => (await visible(made, 'letters')) === 3, { what: 'the dead letters' })
  await waitFor(async () => (await waiting(made, 'held')) === 3, { what: 'what waits' })
  await waitFor(async () => (await waiting(made, 'ordered.fifo')) === 3, { what: 'what waits in order' })
  await waitFor(async () => (await visible(made, 'ordered.fifo')) === 3, { what: 'the FIFO queue' })
  return key.secret
}

async function visible({ client }: Made, queue: string): Promise<number> {
  return (await client.get<{ counts: { visible: number } }>(`/v1/queues/${queue}`)).counts.visible
}

async function waiting({ client, subscriptions }: Made, topic: string): Promise<number> {
  const view = await client.get<{ lane: { waiting: number } }>(`/v1/subscriptions/${subscriptions[topic]}`)
  return view.lane.waiting
}

/** Leaves one message that nobody has received, and one that its receiver still has. */
async function leaveInQueues(made: Made): Promise<void> {
  const { client } = made
  await client.put('/v1/topics/jobs')
  await client.post('/v1/topics/jobs/subscriptions', {
    endpoint: 'jobs',
    protocol: 'sqs',
    rawMessageDelivery: true,
  })
  for (const text of ['job 1', 'job 2']) await publish(made, 'jobs', text)
  await waitFor(async () => (await visible(made, 'jobs')) === 2, { what: 'the jobs' })
  await client.post('/v1/queues/jobs/receive', { maxMessages: 1, visibilityTimeoutSeconds: HIDDEN_SECONDS })
}

async function startRedrives({ client }: Made): Promise<StoredRelease['redrives']> {
  const start = (filter: object) =>
    client.post<{ id: string }>('/v1/redrives', { source: 'letters', maxMessagesPerSecond: 10, filter })
  await redrive.start()
  const ended = await start({ statusCode: 500 })
  await waitFor(
    async () => (await client.get<{ status: string }>(`/v1/redrives/${ended.id}`)).status === 'completed',
    { what: 'the first redrive' },
  )
  await redrive.stop()
  const paused = await start({ statusCode: 404 })
  await client.post(`/v1/redrives/${paused.id}/pause`)
  return { ended: ended.id, paused: paused.id }
}

/** A delivery that waits for its first retry. */
async function failOnce(made: Made): Promise<void> {
  const healthyRetryPolicy = { minDelayTarget: 2, maxDelayTarget: 2, numRetries: 2 }
  await subscribe(made, 'later', { deliveryPolicy: { healthyRetryPolicy } })
  made.receiver.respond('/later', { status: 503 })
  await publish(made, 'later', 'retried')
  await made.receiver.waitForRequests(1, '/later')
}

/**
 * Leaves data that no worker has read: a dispatch job, an entry of a FIFO topic's log, and messages for a push
 * consumer.
 */
async function leaveUndispatched(made: Made): Promise<void> {
  const { client, receiver, messages } = made
  const headers = { 'idempotency-key': 'once' }
  const answer = await client.call<{ messageId: string }>('POST', '/v1/topics/held/messages', {
    body: { message: 'undispatched' },
    headers,
  })
  messages.undispatched = answer.body.messageId
  const body = { message: 'a3', groupId: 'a', deduplicationId: 'a3' }
  const ordered = await client.call<{ messageId: string }>('POST', '/v1/topics/ordered.fifo/messages', {
    body,
    headers,
  })
  messages.a3 = ordered.body.messageId
  await client.put('/v1/queues/pushed/consumers/hook', { url: `${receiver.url}/pushed` })
  for (const body of ['push 1', 'push 2']) await client.post('/v1/queues/pushed/messages', { body })
}

async function viewsOf({ client, subscriptions }: Made): Promise<Record<string, StoredView>> {
  const views: Record<string, StoredView> = {}
  for (const [name, id] of Object.entries(subscriptions)) {
    views[name] = await client.get<StoredView>(`/v1/subscriptions/${id}`)
  }
  return views
}
