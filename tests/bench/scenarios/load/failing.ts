/**
 * Every receiver answers 503 while messages are published. Memory must stop growing when as many deliveries end as
 * begin, and waiting deliveries must cost nothing. When the receivers work again, fresh messages arrive at once.
 * Waiting messages arrive by their curve, or when an operator retries them.
 */
import type { ChildProcess } from 'node:child_process'
import { waitFor } from '@fantail/test-kit'
import { cpuMs, end, startOwn } from '../../processes/children.ts'
import { type Deployment, type Service, startDeployment } from '../../processes/deployment.ts'
import { ask } from '../../processes/ipc.ts'
import { monotonicMs } from '../../processes/monotonic.ts'
import { numberedText } from '../../processes/sequence.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import type { Arrivals } from '../parts/answering-receiver-process.ts'
import { createTopic, each, type TopicLanes } from '../parts/backlog.ts'
import { redisBytes, redisCommands, redisCpuMs, residentBytes } from '../parts/usage.ts'

const TOPICS = 100
const FAN_OUT = 10
/** Bodies are so large that the worker's cache of bodies (64 MiB) is full when the load is steady. */
const BODY_BYTES = 8_192
/** The outcome log is small for the same reason. The default is 100,000. */
const LOG_MESSAGES = 10_000
const PUBLISHES_PER_SECOND = 200
/** Each delivery ends after its fourth attempt. So after 9 s as many deliveries end as begin. */
const SHORT_SECONDS = 3
const LEVEL_MS = 60_000
const MEASURED_MS = 30_000
const WAITING_MS = 20_000
const LONG_SECONDS = 3_600
const WAITING_MESSAGES = 2_000
const FRESH_MESSAGES = 500
const FRESH_MS = 5_000
const CURVE_MESSAGES = 100
/** A retry may come earlier or later by this share of its delay (FANTAIL_RETRY_JITTER). */
const JITTER = 0.1

export const failing: Scenario = {
  name: 'failing',
  summary: 'all receivers answer 503: memory, CPU, and what happens when they are back',
  run,
}

interface Stage {
  deployment: Deployment
  receiver: ChildProcess
  worker: Service
  /** Topics whose deliveries are retried soon (`short`) or after an hour (`long`). */
  short: TopicLanes[]
  long: TopicLanes[]
  options: ScenarioOptions
  /** Number of the next message. */
  number: number
}

async function run(options: ScenarioOptions): Promise<Row[]> {
  const stage = await setUp(options)
  await ask(stage.receiver, 'answerWith', 503)
  const rows = [...(await levelRows(stage)), ...(await waitingRows(stage)), ...(await returnRows(stage))]
  await stage.deployment.stop()
  await end(stage.receiver)
  return rows
}

async function setUp(options: ScenarioOptions): Promise<Stage> {
  const receiver = await startOwn('../scenarios/parts/answering-receiver-process.ts')
  const port = await ask<number>(receiver, 'port')
  const deployment = await startDeployment({
    profileDir: options.profileDir,
    env: { FANTAIL_LOG_MESSAGES: String(LOG_MESSAGES) },
  })
  const topics = async (name: string, seconds: number) => {
    const healthyRetryPolicy = { minDelayTarget: seconds, maxDelayTarget: seconds, numRetries: 3 }
    const made: TopicLanes[] = []
    for (let i = 0; i < TOPICS; i++) {
      const endpoint = (lane: number) => `http://127.0.0.1:${port}/${name}${i}/s${lane}`
      const deliveryPolicy = { healthyRetryPolicy }
      made.push(
        await createTopic(deployment.redis, {
          name: `${name}-${i}`,
          subscriptions: FAN_OUT,
          endpoint,
          deliveryPolicy,
        }),
      )
    }
    return made
  }
  const short = await topics('short', SHORT_SECONDS)
  const long = await topics('long', LONG_SECONDS)
  await deployment.startService('publish-api')
  const worker = await deployment.startService('delivery-worker')
  return { deployment, receiver, worker, short, long, options, number: 0 }
}

/**
 * Publishes the next messages to the topics in turn, evenly over the time. Resolves with the times of the messages, by
 * number.
 */
async function publish(
  stage: Stage,
  topics: TopicLanes[],
  count: number,
  ms: number,
): Promise<Map<number, number>> {
  const startedAt = monotonicMs()
  const times = new Map<number, number>()
  const first = stage.number
  stage.number += count
  await each(count, async (i) => {
    const wait = startedAt + (i * ms) / count - monotonicMs()
    if (wait > 0) await pause(wait)
    const name = topics[i % topics.length]?.arn.split(':').at(-1) ?? ''
    times.set(first + i, monotonicMs())
    const message = numberedText(first + i, BODY_BYTES)
    await stage.deployment.call('POST', `/v1/topics/${name}/messages`, { message })
  })
  return times
}

/** Measures a steady load: as many deliveries end as begin. */
async function levelRows(stage: Stage): Promise<Row[]> {
  const { deployment, receiver, short, options } = stage
  const load = (ms: number) => publish(stage, short, Math.round((ms * PUBLISHES_PER_SECOND) / 1_000), ms)
  await load(options.quick ? LEVEL_MS / 2 : LEVEL_MS)
  const before = await usageOf(stage)
  await ask(receiver, 'forget')
  const measuredMs = options.quick ? MEASURED_MS / 3 : MEASURED_MS
  await load(measuredMs)
  const after = await usageOf(stage)
  const { total } = await ask<Arrivals>(receiver, 'arrivals')
  options.report(
    `${total} attempts in ${measuredMs} ms; worker ${mib(after.rss)} MiB, Redis ${mib(after.bytes)} MiB`,
  )
  const perAttempt = (cpu: number) => (cpu * 1_000) / total
  const rows: Row[] = [
    {
      figure: 'failing: worker, resident, to 30 s before',
      value: after.rss / before.rss,
      unit: 'x',
      atMost: 1.1,
    },
    { figure: 'failing: worker, resident', value: mib(after.rss), unit: 'MiB' },
    { figure: 'failing: Redis, to 30 s before', value: after.bytes / before.bytes, unit: 'x', atMost: 1.1 },
    { figure: 'failing: Redis', value: mib(after.bytes), unit: 'MiB' },
    { figure: 'failing: attempts', value: (total * 1_000) / measuredMs, unit: '/s' },
    { figure: 'failing: worker, per attempt', value: perAttempt(after.worker - before.worker), unit: 'µs' },
    { figure: 'failing: Redis, per attempt', value: perAttempt(after.redis - before.redis), unit: 'µs' },
  ]
  await whenEmpty(deployment, short)
  return rows
}

/** Measures while all deliveries wait for a retry that is much later. */
async function waitingRows(stage: Stage): Promise<Row[]> {
  const { receiver, long, options } = stage
  await ask(receiver, 'forget')
  const attempts = WAITING_MESSAGES * FAN_OUT
  await publish(stage, long, WAITING_MESSAGES, 5_000)
  await whenArrived(receiver, attempts)
  await pause(2_000)
  const before = await usageOf(stage)
  const waitingMs = options.quick ? WAITING_MS / 4 : WAITING_MS
  await pause(waitingMs)
  const after = await usageOf(stage)
  const share = (ms: number) => (ms * 100) / waitingMs
  const note = `${attempts} deliveries in ${TOPICS * FAN_OUT} lanes`
  return [
    {
      figure: 'waiting: worker',
      value: share(after.worker - before.worker),
      unit: '% of a core',
      atMost: 1,
      note,
    },
    { figure: 'waiting: Redis', value: share(after.redis - before.redis), unit: '% of a core', atMost: 1 },
    {
      figure: 'waiting: commands',
      value: ((after.commands - before.commands) * 1_000) / waitingMs,
      unit: '/s',
    },
  ]
}

async function returnRows(stage: Stage): Promise<Row[]> {
  const { receiver, long, short } = stage
  await ask(receiver, 'forget')
  const failed = await publish(stage, short, CURVE_MESSAGES, 500)
  await whenArrived(receiver, CURVE_MESSAGES * FAN_OUT)
  await ask(receiver, 'forget')
  await ask(receiver, 'answerWith', 200)
  const published = await publish(stage, long, FRESH_MESSAGES, FRESH_MS)
  await whenArrived(receiver, (FRESH_MESSAGES + CURVE_MESSAGES) * FAN_OUT)
  const times = new Map(await ask<[number, number][]>(receiver, 'lastTimes'))
  const fresh = latencies(published, times)
  const curve = latencies(failed, times)
  const note = 'publish to the last of ten arrivals'
  return [
    {
      figure: 'back: fresh messages, the slowest',
      value: fresh.at(-1) ?? Number.NaN,
      unit: 'ms',
      atMost: 2_000,
      note,
    },
    { figure: 'back: fresh messages, median', value: fresh[fresh.length >> 1] ?? Number.NaN, unit: 'ms' },
    {
      figure: 'back: retries by a curve of 3 s, the slowest',
      value: curve.at(-1) ?? Number.NaN,
      unit: 'ms',
      atMost: SHORT_SECONDS * 1_000 * (1 + JITTER) + 500,
      note: 'publish to the last of ten arrivals',
    },
    ...(await retryRows(stage)),
  ]
}

/** `/retry` on every subscription. */
async function retryRows({ deployment, receiver, long }: Stage): Promise<Row[]> {
  await ask(receiver, 'forget')
  const startedAt = monotonicMs()
  const lanes = long.flatMap((topic) => topic.lanes)
  await each(lanes.length, (i) => deployment.call('POST', `/v1/subscriptions/${lanes[i]?.id}/retry`))
  const asked = monotonicMs() - startedAt
  const { firstAt, lastAt, total, distinct } = await whenArrived(receiver, WAITING_MESSAGES * FAN_OUT)
  const note = `${total} arrivals, ${total - distinct} twice; ${lanes.length} calls in ${asked.toFixed(0)} ms`
  return [
    { figure: 'back: the first after /retry', value: firstAt - startedAt, unit: 'ms', atMost: 2_000, note },
    { figure: 'back: all after /retry', value: lastAt - startedAt, unit: 'ms' },
  ]
}

async function usageOf({ deployment: { redis }, worker }: Stage) {
  return {
    rss: residentBytes(worker.pid),
    bytes: await redisBytes(redis),
    worker: cpuMs(worker.pid),
    redis: await redisCpuMs(redis),
    commands: await redisCommands(redis),
  }
}

async function whenArrived(receiver: ChildProcess, distinct: number): Promise<Arrivals> {
  let arrivals = await ask<Arrivals>(receiver, 'arrivals')
  const isThere = async () => {
    arrivals = await ask<Arrivals>(receiver, 'arrivals')
    return arrivals.distinct >= distinct
  }
  await waitFor(isThere, { what: `${distinct} arrivals`, timeoutMs: 60_000, intervalMs: 25 })
  return arrivals
}

async function whenEmpty({ call }: Deployment, topics: TopicLanes[]): Promise<void> {
  const lanes = topics.flatMap((topic) => topic.lanes)
  for (const { id } of lanes) {
    const isEmpty = async () => {
      const { lane } = await call<{ lane: { waiting: number; inFlight: number } }>(
        'GET',
        `/v1/subscriptions/${id}`,
      )
      return lane.waiting + lane.inFlight === 0
    }
    await waitFor(isEmpty, { what: `the lane of ${id} to be empty`, timeoutMs: 60_000, intervalMs: 100 })
  }
}

function latencies(from: Map<number, number>, to: Map<number, number>): number[] {
  const found = Array.from(from, ([number, at]) => (to.get(number) ?? Number.POSITIVE_INFINITY) - at)
  return found.sort((a, b) => a - b)
}

function mib(bytes: number): number {
  return bytes / 1_048_576
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
