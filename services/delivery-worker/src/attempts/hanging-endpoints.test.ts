/**
 * Attempts at endpoints that never answer, of every kind. They end by their time-out with a cause. While they last,
 * they cost an endpoint beside them nothing.
 */
import {
  type AttemptResult,
  createMessageId,
  type Message,
  PROTOCOLS,
  type Protocol,
  type PushConsumerRecord,
  platformApplicationArn,
  type SubscriptionRecord,
  SYSTEM_POLICY,
} from '@fantail/contracts'
import {
  closeAttempters,
  compileEnvelope,
  compileTarget,
  createAttempters,
  createHttpSender,
  QueueAdmission,
  QueueAppends,
  sealPlatformCredential,
} from '@fantail/delivery'
import {
  connect,
  deliveryItemId,
  MailState,
  MobilePushState,
  openStreamWriter,
  PlatformApplications,
  PlatformEndpoints,
  Queues,
  SmsState,
  whenReady,
} from '@fantail/store'
import {
  browserSubscription,
  FLOOD_BYTES_MAX,
  FLOODS,
  type Flood,
  flood,
  startRawServer,
  startReceiver,
  startRedis,
  vapidCredential,
  waitFor,
} from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { requestBatch } from '../push-consumers/push-request.ts'

/** A text message must be written within this time, else it is certain that it was not sent. */
const TIMEOUT_MS = 1_500
/** After this time a provider without an answer counts as silent. It may then have this many requests. */
const SILENT_MS = 2_001
const SILENT_MAX = 20
const ACCOUNT = 'us-east-1:000000000000'

const { redis } = await useRedis({ connect: (options) => connect({ ...options, commandTimeoutMs: null }) })
/** The answer without an end to each request. undefined: there is no answer. */
let flooding: Flood | undefined
let floodedBytes = 0
/** It accepts connections and never sends a byte, unless it floods. */
const hole = await startRawServer((socket) => {
  if (flooding === undefined) return
  const [, head, repeated] = flooding
  socket.once('data', () => flood(socket, head, repeated))
  socket.once('close', () => {
    floodedBytes += socket.bytesWritten
  })
})
const receiver = await startReceiver()
const frozen = await startRedis()
const toFrozen = connect({ url: frozen.url, name: 'test', commandTimeoutMs: TIMEOUT_MS })
await whenReady(toFrozen)
await frozen.freeze()
afterAll(async () => {
  toFrozen.disconnect()
  await frozen.thaw()
  await Promise.all([frozen.stop(), hole.close(), receiver.close()])
})
afterEach(() => {
  flooding = undefined
})

const masterKey = parseMasterKey(createMasterKeyText())
const vault = masterKey && createVault([masterKey])
const queueArn = (name: string) => `arn:aws:sqs:${ACCOUNT}:${name}`
const streamArn = (name: string) => `arn:aws:firehose:${ACCOUNT}:deliverystream/${name}`
const functionArn = (name: string) => `arn:aws:lambda:${ACCOUNT}:function:${name}`
const live = new Queues(redis)
await live.put(queueArn('live'), {})
const application = platformApplicationArn('WEBPUSH', 'shop', {
  partition: 'aws',
  region: 'us-east-1',
  account: '000000000000',
})
const browserAt = await registerBrowsers()
receiver.respond('/stream', {
  body: JSON.stringify({ FailedPutCount: 0, RequestResponses: [{ RecordId: '1' }] }),
})
receiver.respond('/function', { status: 202 })
receiver.respond('/browser', { status: 201 })

interface Kind {
  /** It never answers. */
  hanging: string
  /** The error of an attempt at it. Default: `timeout`. */
  error?: string
  /** An endpoint that answers. Default: a webhook, for kinds whose endpoints here all have the provider that hangs. */
  beside?: string
  /** Whether many subscriptions may share a provider. A silent one then gets few attempts. */
  isShared: boolean
}

/** A new protocol does not compile without a case. */
const KINDS: Record<Protocol, Kind> = {
  http: { hanging: `${hole.url}/hook`, isShared: false },
  https: { hanging: `https://127.0.0.1:${hole.port}/hook`, isShared: false },
  // A queue hangs if its Redis does.
  sqs: { hanging: queueArn('frozen'), error: 'storage', beside: queueArn('live'), isShared: false },
  lambda: { hanging: functionArn('hanging'), beside: functionArn('live'), isShared: true },
  firehose: { hanging: streamArn('hanging'), beside: streamArn('live'), isShared: true },
  email: { hanging: 'ada@example.com', isShared: true },
  'email-json': { hanging: 'ada@example.com', isShared: true },
  // The provider may have sent the message, so it is not tried again.
  sms: { hanging: '+15550100', error: 'outcome_unknown', isShared: true },
  application: {
    hanging: await browserAt(`${hole.url}/browser`),
    beside: await browserAt(`${receiver.url}/browser`),
    isShared: true,
  },
}

async function registerBrowsers() {
  if (!vault) throw new Error('a new key must be readable')
  const { PlatformPrincipal: principal = '', PlatformCredential: credential = '' } = vapidCredential()
  const opened = { principal, credential, subject: 'mailto:fantail@example.com' }
  const sealed = sealPlatformCredential(opened, { arn: application }, vault)
  const attributes = { Enabled: 'true' }
  const record = { arn: application, platform: 'WEBPUSH', sealed, attributes, createdAt: 1 } as const
  await new PlatformApplications(redis).create(record)
  return async (url: string) => {
    const { token } = browserSubscription(url)
    const created = await new PlatformEndpoints(redis).create(application, {
      token,
      enabled: true,
      createdAt: 1,
    })
    return created.endpoint.arn
  }
}

/** The attempters of a worker. */
function openAttempters(attemptTimeoutMs: number) {
  const sender = createHttpSender({ timeoutMs: attemptTimeoutMs, allowPrivate: true })
  const onProblem = (error: unknown) => expect(error).toBeUndefined()
  const queues = (arn: string) => (arn === queueArn('frozen') ? new Queues(toFrozen) : live)
  const attempters = createAttempters({
    ...{ sender, vault, openStreamWriter, itemIdOf: deliveryItemId, clock: Date.now, userAgent: undefined },
    appends: new QueueAppends({
      queues: { send: (arn, items) => queues(arn).send(arn, items) },
      admission: new QueueAdmission({
        queues: { get: (arn) => queues(arn).get(arn) },
        clock: Date.now,
      }),
    }),
    mail: new MailState(redis, { clock: Date.now, onProblem }),
    sms: new SmsState(redis, { clock: Date.now, onProblem }),
    mobilePush: new MobilePushState(redis, { onDisabled: onProblem, publishUpdated: async () => undefined }),
    protocolSettings: {
      attemptTimeoutMs,
      functions: { hanging: `${hole.url}/function`, live: `${receiver.url}/function` },
      streams: { hanging: `${hole.url}/stream`, live: `${receiver.url}/stream` },
      smtpUrl: `smtp://127.0.0.1:${hole.port}`,
      emailFrom: { name: 'Fantail', address: 'fantail@example.com' },
      smsUrl: `${hole.url}/sms`,
      smsCountries: [{ prefix: '+1', priceUsd: 0.0001 }],
    },
  })
  const attempt = (protocol: Protocol, endpoint: string, set: AttemptSettings = {}) =>
    new Promise<AttemptResult>((resolve) =>
      attempters[protocol].attempt(attemptAt(protocol, endpoint, set), resolve),
    )
  const push = async (url: string) => {
    const record = { url, timeoutSeconds: 60 } as PushConsumerRecord
    const request = { record, body: '', traceparent: undefined, signal: new AbortController().signal }
    return (await requestBatch({ sender, functions: undefined, vault: undefined }, request)).result
  }
  const close = async () => {
    await sender.close(0)
    await closeAttempters(attempters)
  }
  return { attempt, push, close }
}

interface AttemptSettings {
  record?: Partial<SubscriptionRecord>
  message?: Partial<Message>
}

function attemptAt(protocol: Protocol, endpoint: string, set: AttemptSettings) {
  const topicArn = `arn:aws:sns:${ACCOUNT}:orders`
  const id = '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21'
  const record = {
    id,
    arn: `${topicArn}:${id}`,
    topicArn,
    protocol,
    endpoint,
    rawMessageDelivery: false,
    ...set.record,
  }
  const messageId = createMessageId(Date.now())
  const message = {
    messageId,
    topicArn,
    publishedAt: Date.now(),
    message: 'hello',
    publicUrl: receiver.url,
    ...set.message,
  }
  return {
    target: compileTarget(record as SubscriptionRecord, SYSTEM_POLICY),
    envelope: compileEnvelope(message),
    delivery: undefined,
  }
}

test('an attempt at an endpoint that never answers fails by its time-out, with a cause', async () => {
  const { attempt, close } = openAttempters(TIMEOUT_MS)
  const attempts = PROTOCOLS.map(async (protocol) => [
    protocol,
    await attempt(protocol, KINDS[protocol].hanging),
  ])
  const results = Object.fromEntries(await Promise.all(attempts))
  await close()
  const expected = PROTOCOLS.map((protocol) => {
    const { error = 'timeout' } = KINDS[protocol]
    return [protocol, { kind: 'failure', error, detail: expect.stringMatching(/./) }]
  })
  expect(results).toMatchObject(Object.fromEntries(expected))
})

type Places = ReturnType<typeof openAttempters>

/** Everything whose answers are HTTP. A webhook over TLS differs from one without in its connection only. */
const HTTP_PLACES: Record<string, (places: Places) => Promise<AttemptResult>> = {
  ...Object.fromEntries(
    (['http', 'lambda', 'firehose', 'sms', 'application'] as const).map((protocol) => [
      `${protocol} endpoint`,
      ({ attempt }: Places) => attempt(protocol, KINDS[protocol].hanging),
    ]),
  ),
  'endpoint that is asked to confirm': ({ attempt }) =>
    attempt('http', hole.url, { message: { kind: 'SubscriptionConfirmation', token: 'a' } }),
  'push consumer': ({ push }) => push(hole.url),
  proxy: ({ attempt }) =>
    attempt('http', 'http://hooks.example/', { record: { outbound: { proxy: hole.url } } }),
}

describe.each(Object.entries(HTTP_PLACES))('an attempt at a flooding %s', (_place, reach) => {
  test.each(FLOODS)('ends at once: %s', async (...answer) => {
    const places = openAttempters(60_000)
    flooding = answer
    floodedBytes = 0
    const result = await reach(places)
    // A status that was read stands if the body does not matter.
    if (result.kind === 'response')
      expect([answer[0], result.statusCode]).toEqual(['the extension of a chunk', 200])
    else
      expect(result).toMatchObject({
        kind: 'failure',
        error: expect.stringMatching(/^(invalid_response|outcome_unknown|proxy)$/),
      })
    await places.close()
    await waitFor(() => floodedBytes > 0, { what: 'the connection to be closed' })
    expect(floodedBytes).toBeLessThan(FLOOD_BYTES_MAX)
  })
})

test.each(PROTOCOLS)('a crowd at a hanging %s endpoint costs one beside it nothing', async (protocol) => {
  // The time of the attempts stands, however busy the machine is.
  vi.useFakeTimers({ toFake: ['performance'] })
  const { hanging, beside, isShared } = KINDS[protocol]
  const { attempt, close } = openAttempters(60_000)
  const attemptBeside = () =>
    beside === undefined ? attempt('http', `${receiver.url}/webhook`) : attempt(protocol, beside)
  const crowd = Array.from({ length: SILENT_MAX }, () => attempt(protocol, hanging))
  expect(await attemptBeside()).toMatchObject({ kind: 'response' })
  vi.advanceTimersByTime(SILENT_MS)
  if (isShared) expect(await attempt(protocol, hanging)).toMatchObject({ error: 'service_limit' })
  expect(await attemptBeside()).toMatchObject({ kind: 'response' })
  await close()
  expect((await Promise.all(crowd)).map(({ kind }) => kind)).toEqual(Array(SILENT_MAX).fill('failure'))
})
