/**
 * Measures whether a hung provider delays other subscriptions. The provider accepts requests and never answers. It has
 * many subscriptions with waiting deliveries. Each other kind has one healthy subscription, whose latency is measured.
 *
 * Measurements come in pairs: one without the hung provider, and one with it. The limit holds for each healthy kind
 * separately.
 */
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  CreatePlatformApplicationCommand,
  CreatePlatformEndpointCommand,
  SNSClient,
} from '@aws-sdk/client-sns'
import type { Protocol } from '@fantail/contracts'
import { firebaseCredential, waitFor } from '@fantail/test-kit'
import { end, startOwn } from '../../processes/children.ts'
import { type Deployment, startDeployment } from '../../processes/deployment.ts'
import { ask } from '../../processes/ipc.ts'
import { monotonicMs } from '../../processes/monotonic.ts'
import { numberedText } from '../../processes/sequence.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { createTopic, each } from '../parts/backlog.ts'

const KINDS = ['webhook', 'function', 'stream', 'mail', 'sms', 'push'] as const
type Kind = (typeof KINDS)[number]
/** All kinds except webhooks, which the scenario `hung` measures. */
const HUNG_KINDS = KINDS.slice(1) as Exclude<Kind, 'webhook'>[]
const PROVIDER_NAMES: Record<Kind, string> = {
  webhook: 'webhook',
  function: 'function service',
  stream: 'stream',
  mail: 'SMTP server',
  sms: 'SMS provider',
  push: 'push provider',
}
const PROTOCOLS: Record<Kind, Protocol> = {
  webhook: 'http',
  function: 'lambda',
  stream: 'firehose',
  mail: 'email',
  sms: 'sms',
  push: 'application',
}
const SUBSCRIPTIONS = 100
const SUBSCRIPTIONS_QUICK = 20
const MESSAGES = 5
/** Text messages have at most 1,600 characters. */
const BODY_BYTES = 200
const PUBLISH_EVERY_MS = 50
/** 320 messages of each kind, so that a single late one is not the p99. */
const MEASURED_MS = 16_000
const QUICK_MS = 3_000
const PAIRS = 3
const SLOWER_FACTOR = 1.5
const SLOWER_MS = 10
/** Messages to the hung subscriptions have numbers from here on. */
const HUNG_FROM = 1_000_000

export const hungProviders: Scenario = {
  name: 'hung-providers',
  summary:
    'one healthy subscription of each kind beside a hung provider of another kind: p99 against the bar',
  run,
}

type P99s = Map<Kind, number>

interface Stage {
  deployment: Deployment
  providers: ChildProcess
  next: number
}

async function run(options: ScenarioOptions): Promise<Row[]> {
  const rows: Row[] = []
  for (const hung of HUNG_KINDS) {
    const shares: number[] = []
    const slowest: string[] = []
    for (let pair = 0; pair < (options.quick ? 1 : PAIRS); pair++) {
      const { calm, troubled } = await measurePair(hung, options)
      const worst = worstOf(calm, troubled)
      options.report(`hung ${hung}: calm ${brief(calm)}; beside it ${brief(troubled)}`)
      shares.push(worst.share)
      slowest.push(worst.kind)
    }
    const figure = `the slowest p99 beside a hung ${PROVIDER_NAMES[hung]}, as a share of 1.5 × calm + 10 ms`
    const note = `slowest: ${[...new Set(slowest)].join(', ')}`
    rows.push(rowOf(figure, figureOf(shares), { unit: '', atMost: 1, note }))
  }
  return rows
}

async function measurePair(hung: Kind, options: ScenarioOptions): Promise<{ calm: P99s; troubled: P99s }> {
  const providers = await startOwn('../scenarios/parts/kind-providers-process.ts')
  const urls = await ask<{ http: string; smtp: string }>(providers, 'urls')
  const deployment = await startDeployment({ profileDir: options.profileDir, env: settingsFor(urls) })
  const stage: Stage = { deployment, providers, next: 0 }
  await deployment.startService('publish-api')
  await createTopics(stage, urls.http, { hung, count: options.quick ? SUBSCRIPTIONS_QUICK : SUBSCRIPTIONS })
  await deployment.startService('delivery-worker')
  const ms = options.quick ? QUICK_MS : MEASURED_MS
  // A first measurement opens connections, compiles scripts and gets the first answer of each endpoint.
  await measure(stage, KINDS, QUICK_MS)
  const others = KINDS.filter((kind) => kind !== hung)
  const calm = await measure(stage, others, ms)
  await ask(providers, 'hang', hung)
  for (let number = 0; number < MESSAGES; number++) await publish(stage, 'hung', HUNG_FROM + number)
  const troubled = await measure(stage, others, ms)
  await deployment.stop()
  await end(providers)
  return { calm, troubled }
}

function settingsFor({ http, smtp }: { http: string; smtp: string }): NodeJS.ProcessEnv {
  return {
    FANTAIL_MASTER_KEY: randomBytes(32).toString('base64'),
    FANTAIL_FUNCTIONS: JSON.stringify({ '*': `${http}/function` }),
    FANTAIL_STREAMS: JSON.stringify({ '*': `${http}/stream` }),
    FANTAIL_SMTP_URL: smtp,
    FANTAIL_EMAIL_DOMAIN_RATE: '1000',
    FANTAIL_SMS_URL: `${http}/sms`,
    FANTAIL_SMS_COUNTRIES: '+1=0',
    FANTAIL_FCM_URL: http,
    FANTAIL_FCM_TOKEN_URL: `${http}/token`,
  }
}

/** The topic `healthy` has one subscription of each kind, and `hung` has many of one kind. */
async function createTopics(
  { deployment: { redis, apiPort } }: Stage,
  http: string,
  { hung, count }: { hung: Kind; count: number },
): Promise<void> {
  const devices = await createDevices(apiPort, hung === 'push' ? count + 1 : 1)
  const endpointOf = (kind: Kind, number: number) => {
    const account = 'us-east-1:000000000000'
    const endpoints: Record<Kind, string> = {
      webhook: `${http}/webhook/${number}`,
      function: `arn:aws:lambda:${account}:function:f-${number}`,
      stream: `arn:aws:firehose:${account}:deliverystream/s-${number}`,
      mail: `m-${number}@example.com`,
      sms: `+1555${1_000_000 + number}`,
      push: devices[number] ?? '',
    }
    return endpoints[kind]
  }
  // Mail has ten messages a second by default, and a measurement publishes twice as many. The throttle must not be what
  // is measured.
  const deliveryPolicy = { throttlePolicy: { maxReceivesPerSecond: 1_000 } }
  for (const kind of KINDS) {
    await createTopic(redis, {
      name: `healthy-${kind}`,
      subscriptions: 1,
      protocol: PROTOCOLS[kind],
      endpoint: () => endpointOf(kind, 0),
      ...(kind === 'mail' && { deliveryPolicy }),
    })
  }
  await createTopic(redis, {
    name: 'hung',
    subscriptions: count,
    protocol: PROTOCOLS[hung],
    endpoint: (number) => endpointOf(hung, number + 1),
  })
}

async function createDevices(apiPort: number, count: number): Promise<string[]> {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const sns = new SNSClient({ endpoint: `http://127.0.0.1:${apiPort}`, region: 'us-east-1', credentials })
  const application = { Name: 'bench', Platform: 'GCM', Attributes: firebaseCredential('bench') }
  const { PlatformApplicationArn } = await sns.send(new CreatePlatformApplicationCommand(application))
  const devices: string[] = []
  await each(count, async (number) => {
    const device = new CreatePlatformEndpointCommand({ PlatformApplicationArn, Token: `device-${number}` })
    devices[number] = (await sns.send(device)).EndpointArn ?? ''
  })
  sns.destroy()
  return devices
}

async function publish({ deployment }: Stage, topic: string, number: number): Promise<void> {
  const message = numberedText(number, BODY_BYTES)
  await deployment.call('POST', `/v1/topics/${topic}/messages`, { message })
}

/** Publishes to every one of these kinds for this time, and resolves with the p99 of each from publish to arrival. */
async function measure(stage: Stage, kinds: readonly Kind[], ms: number): Promise<P99s> {
  const startedAt = monotonicMs()
  const first = stage.next
  const sentAt: number[] = []
  const publishes: Promise<void>[] = []
  for (let n = 0; n * PUBLISH_EVERY_MS < ms; n++) {
    const waitMs = startedAt + n * PUBLISH_EVERY_MS - monotonicMs()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    sentAt.push(monotonicMs())
    const number = stage.next++
    for (const kind of kinds) publishes.push(publish(stage, `healthy-${kind}`, number))
  }
  await Promise.all(publishes)
  const took = () => timesTaken(stage, kinds, { first, sentAt })
  const isDone = async () => [...(await took()).values()].every(({ length }) => length === sentAt.length)
  await waitFor(isDone, {
    what: 'every message at every healthy endpoint',
    timeoutMs: 120_000,
    intervalMs: 100,
  })
  return new Map([...(await took())].map(([kind, times]) => [kind, p99Of(times)]))
}

async function timesTaken(
  { providers }: Stage,
  kinds: readonly Kind[],
  { first, sentAt }: { first: number; sentAt: number[] },
): Promise<Map<Kind, number[]>> {
  const arrivals = new Map(await ask<[Kind, [number, number][]][]>(providers, 'arrivals'))
  const ofKind = (kind: Kind) =>
    (arrivals.get(kind) ?? []).flatMap(([number, at]) => {
      const sent = sentAt[number - first]
      return sent === undefined ? [] : [at - sent]
    })
  return new Map(kinds.map((kind) => [kind, ofKind(kind)]))
}

function p99Of(times: number[]): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
}

/** The kind whose value is closest to its bound, or exceeds it most. */
function worstOf(calm: P99s, troubled: P99s): { kind: Kind; share: number } {
  const shares = [...troubled].map(([kind, p99]) => {
    return { kind, share: p99 / (SLOWER_FACTOR * (calm.get(kind) ?? Number.NaN) + SLOWER_MS) }
  })
  return shares.reduce((worst, one) => (one.share > worst.share ? one : worst))
}

function brief(p99s: P99s): string {
  return [...p99s].map(([kind, p99]) => `${kind} ${p99.toFixed(1)} ms`).join(', ')
}
