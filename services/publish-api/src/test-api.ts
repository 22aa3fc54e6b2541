/** The API over a Redis of its own, for tests: real stores and publisher, a log and metrics that can be looked at. */
import { ARN_DEFAULTS, type AttemptResult, type Message } from '@fantail/contracts'
import { createAddressGuard, createSigningPairs, EnvelopeSigning, SigningKey } from '@fantail/delivery'
import { createPublisher, dispatchQueueName, type Publisher } from '@fantail/jobs'
import {
  ApiKeys,
  ConfirmationLimits,
  Consumers,
  Counts,
  connect,
  FifoLog,
  Idempotency,
  IsolatedMessages,
  KeyLimits,
  Lanes,
  OutcomeLog,
  Plans,
  placeOfSubscription,
  Quarantine,
  Queues,
  QueueWaits,
  type Redis,
  Redrives,
  SigningKeys,
  StorageGuard,
  Subscriptions,
  Topics,
  whenReady,
} from '@fantail/store'
import { createMetrics, NO_SPANS } from '@fantail/telemetry'
import { startRedis, type TestRedis, type TestRedisOptions, waitFor } from '@fantail/test-kit'
import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { expect } from 'vitest'
import type { z } from 'zod'
import { createApp, endpointsOf } from './app.ts'
import { KeyCache } from './auth/key-cache.ts'
import { RateLimits } from './auth/rate-limits.ts'
import type { ApiDeps } from './deps.ts'
import { pathPattern } from './http/mount.ts'
import { QueueCache } from './queue-cache.ts'
import { TopicCache } from './topic-cache.ts'

export interface TestApi {
  deps: ApiDeps
  server: TestRedis
  redis: Redis
  /** All of them, for looking into lanes as a worker does. */
  lanes: Lanes
  outcomes: OutcomeLog
  events: { event: string; fields: Record<string, unknown> }[]
  /** What `/test` was asked to attempt; answered by `attemptResult`. */
  attempts: { url: string; body: string }[]
  attemptResult: AttemptResult
  /** A request; `body` is sent as JSON unless it is text or bytes. Checks the answer against what is documented. */
  call(method: string, path: string, options?: CallOptions): Promise<Called>
  /** Every message in the dispatch queue. */
  published(): Promise<Message[]>
  stop(): Promise<void>
}

export interface CallOptions {
  body?: unknown
  headers?: Record<string, string>
}

export interface Called {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape the schema has checked.
  body: any
  text: string
}

export interface TestApiOptions extends TestRedisOptions {
  /** Keys are asked for. */
  auth?: boolean
}

export async function startTestApi({ auth, ...options }: TestApiOptions = {}): Promise<TestApi> {
  const server = await startRedis(options)
  const redis = connect({ url: server.url, name: 'test' })
  const subscriber = connect({ url: server.url, name: 'test-subscriber', commandTimeoutMs: null })
  const publisher = createPublisher({ url: server.url, queues: 1, minReplicas: 0 })
  await Promise.all([whenReady(redis), whenReady(subscriber)])
  await waitFor(() => publisher.ready, { what: 'the publisher' })
  const queueWaits = new QueueWaits({ queues: new Queues(redis), subscriber })
  const api = buildApi({ server, redis, publisher, queueWaits, auth })
  api.stop = async () => {
    queueWaits.close()
    await publisher.close()
    redis.disconnect()
    subscriber.disconnect()
    await server.stop()
  }
  return api
}

interface Parts {
  server: TestRedis
  redis: Redis
  publisher: Publisher
  queueWaits: QueueWaits
  auth: boolean | undefined
}

function buildApi({ server, redis, publisher, queueWaits, auth }: Parts): TestApi {
  const growth = new StorageGuard({ redis })
  const topics = new Topics(redis, { growth })
  const queues: Queues = new Queues(redis, { growth, onChange: (arn) => queueCache.forget(arn) })
  const queueCache = new QueueCache({ queues })
  const lanes = new Lanes(redis)
  const certificates = new SigningKeys(redis)
  const unsent = { quarantine: new Quarantine(redis), isolated: new IsolatedMessages(redis) }
  const outcomes = new OutcomeLog(redis, new Plans(redis), lanes, {
    queues: 1,
    entriesMax: 1_000,
    unsent,
  })
  const events: TestApi['events'] = []
  const note = (fields: object, event: string) => void events.push({ event, fields: { ...fields } })
  const api = {
    server,
    redis,
    lanes,
    outcomes,
    events,
    attempts: [],
    published: () => publishedMessages(redis),
  } as unknown as TestApi
  api.attemptResult = { kind: 'response', statusCode: 204, durationMs: 3 }
  api.deps = {
    topics,
    topicCache: new TopicCache({ topics }),
    subscriptions: new Subscriptions(redis, { growth }),
    confirmationLimits: new ConfirmationLimits(redis, { growth }),
    lanes,
    queues,
    queueCache,
    consumers: new Consumers(redis, { growth }),
    queueWaits,
    redrives: new Redrives(redis),
    messages: outcomes,
    quarantine: unsent.quarantine,
    counts: new Counts(redis),
    publisher,
    fifoLog: new FifoLog(redis),
    idempotency: new Idempotency(redis),
    storageGuard: growth,
    addressGuard: createAddressGuard({ allowPrivate: true }),
    sender: {
      attempt: async ({ url, body }) => {
        api.attempts.push({ url, body: body.toString() })
        return api.attemptResult
      },
    },
    signing: new EnvelopeSigning(
      new SigningKey({ pairs: createSigningPairs(certificates, { vault: undefined }) }),
    ),
    certificates,
    ...testKeys(redis, note, growth),
    checks: { redis: () => redis.ping() },
    settings: {
      mode: auth ? 'server' : 'local',
      hosts: undefined,
      port: 4100,
      arn: ARN_DEFAULTS,
      auth: auth ?? false,
      awsCredentials: undefined,
      openMetrics: false,
      publicUrl: undefined,
      maxRetrySeconds: 3_600,
      retryJitter: 0.1,
      fifoHttp: false,
      sqsDeleteCooldownSeconds: 0,
      tlsCertFile: undefined,
    },
    log: { isLevelEnabled: () => true, debug: () => undefined, info: note, warn: note, error: note },
    metrics: createMetrics(),
    renderMetrics: async () => 'up 1\n',
    spans: NO_SPANS,
    clock: () => Date.now(),
  }
  const app = createApp(api.deps)
  const documented = documentedAnswers(api.deps)
  api.call = async (method, path, given = {}) => {
    const response = await app.request(path, { method, ...toInit(given) })
    const text = await response.text()
    const json = response.headers.get('content-type')?.startsWith('application/json') ?? false
    const body = json ? JSON.parse(text) : undefined
    documented(method, path, response.status, body)
    return { status: response.status, headers: response.headers, body, text }
  }
  return api
}

function testKeys(redis: Redis, note: ApiDeps['log']['error'], growth: StorageGuard) {
  const keys = new ApiKeys(redis, { growth })
  const masterKey = parseMasterKey(createMasterKeyText())
  const vault = masterKey && createVault([masterKey])
  return {
    keys,
    vault,
    keyCache: new KeyCache({ keys, vault, log: { error: note } }),
    rateLimits: new RateLimits({ limits: new KeyLimits(redis) }),
  }
}

function toInit({ body, headers = {} }: CallOptions): RequestInit {
  if (body === undefined) return { headers }
  if (typeof body === 'string' || body instanceof Uint8Array)
    return { headers, body: body as RequestInit['body'] }
  return { headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

/** Fails where a success's body is not exactly what its route documents, or an error's not the one shape. */
function documentedAnswers(deps: ApiDeps) {
  const routes = endpointsOf(deps).map((endpoint) => ({
    endpoint,
    path: pathPattern(endpoint),
  }))
  return (method: string, url: string, status: number, body: unknown) => {
    const path = new URL(url, 'http://localhost').pathname
    const route = routes.find(
      (candidate) => candidate.endpoint.method === method && candidate.path.test(path),
    )
    const answer = route?.endpoint.answers[status]
    if (answer?.schema) expect(difference(answer.schema, body)).toBeUndefined()
    else if (status >= 400 && !answer && path !== '/')
      expect(body).toMatchObject({ error: { code: expect.any(String) } })
  }
}

/** What is wrong with a body; members that the schema does not know are dropped by it and so differ. */
function difference(schema: z.ZodType, body: unknown): unknown {
  const parsed = schema.safeParse(body)
  if (!parsed.success) return parsed.error.issues
  return JSON.stringify(sorted(parsed.data)) === JSON.stringify(sorted(body))
    ? undefined
    : { undocumented: body }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}

async function publishedMessages(redis: Redis): Promise<Message[]> {
  const keys = await redis.keys(`*${dispatchQueueName(0)}*:[0-9]*`)
  const data = await Promise.all(keys.map((key) => redis.hget(key, 'data')))
  return data.flatMap((text) => (JSON.parse(text ?? '{"m":[]}') as { m: Message[] }).m)
}

/** The messages in a subscription's lane, claimed as a worker would; a take claims one of an endpoint that is not proven. */
export async function waitingIn({ lanes }: Pick<TestApi, 'lanes'>, id: string): Promise<Message[]> {
  const { shard } = placeOfSubscription(id) ?? { shard: -1 }
  const request = { lanesMax: 10, deliveriesMax: 100, leaseMs: 60_000, limits: new Map() }
  const messages: Message[] = []
  for (;;) {
    const taken = await lanes.take(shard, request)
    const claims = taken.lanes.find(({ subscriptionId }) => subscriptionId === id)?.claims ?? []
    if (claims.length === 0) return messages
    const deliveries = claims.map(({ delivery }) => delivery)
    const bodies = await lanes.messages(shard, deliveries)
    messages.push(...bodies.map((body) => JSON.parse(String(body)) as Message))
  }
}
