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
/** More than the machine can do, for a few seconds. The steady load is a share of what it does in the last of them. */
const FLOOD_PER_SECOND = 200
const FLOOD_MS = 15_000
const FLOOD_MEASURED_MS = 5_000
const STEADY_SHARE = 0.5
const ATTEMPTS = 4
/** Each delivery ends after its fourth attempt. If the machine keeps up, as many end as begin after 9 s. */
const SHORT_SECONDS = 3
/** Messages after which the outcome log is full. */
const LEVEL_MESSAGES = 12_000
const MEASURED_MS = 30_000
const WAITING_MS = 20_000
const LONG_SECONDS = 3_600
const WAITING_MESSAGES = 2_000
const FRESH_MESSAGES = 500
const FRESH_MS = 5_000
const CURVE_MESSAGES = 100
/** Past it without any attempt, a wait has failed. A machine that is slow therefore only takes longer. */
const SILENCE_MS = 60_000
const LOOK_MS = 50
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
    const healthyRetryPolicy = { minDelayTarget: seconds, maxDelayTarget: seconds, numRetries: ATTEMPTS - 1 }
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
  const { receiver, short, options } = stage
  const flood = await floodAttempts(stage)
  const perSecond = (STEADY_SHARE * flood) / (FAN_OUT * ATTEMPTS)
  const messages = (options.quick ? LEVEL_MESSAGES / 2 : LEVEL_MESSAGES) - stage.number
  await publish(stage, short, messages, (messages * 1_000) / perSecond)
  const before = await usageOf(stage)
  const { total: attemptsBefore } = await ask<Arrivals>(receiver, 'arrivals')
  const measuredMs = options.quick ? MEASURED_MS / 3 : MEASURED_MS
  await publish(stage, short, Math.round((measuredMs * perSecond) / 1_000), measuredMs)
  const after = await usageOf(stage)
  const total = (await ask<Arrivals>(receiver, 'arrivals')).total - attemptsBefore
  options.report(
    `${total} attempts in ${measuredMs} ms; worker ${mib(after.rss)} MiB, Redis ${mib(after.bytes)} MiB`,
  )
  const note = `${perSecond.toFixed(0)} messages a second, a load that the machine can sustain`
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
    { figure: 'failing: attempts, saturated', value: flood, unit: '/s' },
    { figure: 'failing: attempts', value: (total * 1_000) / measuredMs, unit: '/s', note },
    { figure: 'failing: worker, per attempt', value: perAttempt(after.worker - before.worker), unit: 'µs' },
    { figure: 'failing: Redis, per attempt', value: perAttempt(after.redis - before.redis), unit: 'µs' },
  ]
  await whenEmpty(stage, short)
  return rows
}

/** Attempts a second while more messages come than the machine can publish and attempt. */
async function floodAttempts(stage: Stage): Promise<number> {
  const { receiver, short } = stage
  const flood = (ms: number) => publish(stage, short, Math.round((ms * FLOOD_PER_SECOND) / 1_000), ms)
  await flood(FLOOD_MS - FLOOD_MEASURED_MS)
  const before = await ask<Arrivals>(receiver, 'arrivals')
  const startedAt = monotonicMs()
  await flood(FLOOD_MEASURED_MS)
  const { total } = await ask<Arrivals>(receiver, 'arrivals')
  const attemptsPerSecond = ((total - before.total) * 1_000) / (monotonicMs() - startedAt)
  await whenEmpty(stage, short)
  return attemptsPerSecond
}

/** Measures while all deliveries wait for a retry that is much later. */
async function waitingRows(stage: Stage): Promise<Row[]> {
  const { receiver, long, options } = stage
  await ask(receiver, 'forget')
  const attempts = WAITING_MESSAGES * FAN_OUT
  await publish(stage, long, WAITING_MESSAGES, 5_000)
  await whenArrived(stage, attempts)
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
  await whenArrived(stage, CURVE_MESSAGES * FAN_OUT)
  await ask(receiver, 'forget')
  await ask(receiver, 'answerWith', 200)
  const published = await publish(stage, long, FRESH_MESSAGES, FRESH_MS)
  await whenArrived(stage, (FRESH_MESSAGES + CURVE_MESSAGES) * FAN_OUT)
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
async function retryRows(stage: Stage): Promise<Row[]> {
  const { deployment, receiver, long } = stage
  await ask(receiver, 'forget')
  const startedAt = monotonicMs()
  const lanes = long.flatMap((topic) => topic.lanes)
  await each(lanes.length, (i) => deployment.call('POST', `/v1/subscriptions/${lanes[i]?.id}/retry`))
  const asked = monotonicMs() - startedAt
  const { firstAt, lastAt, total, distinct } = await whenArrived(stage, WAITING_MESSAGES * FAN_OUT)
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

function whenArrived(stage: Stage, distinct: number): Promise<Arrivals> {
  return whileArriving(stage, `${distinct} arrivals`, (arrivals) => arrivals.distinct >= distinct)
}

/** Before the first attempt a delivery may be in no lane. */
async function whenEmpty(stage: Stage, topics: TopicLanes[]): Promise<void> {
  const { deployment, number } = stage
  await whenArrived(stage, number * FAN_OUT)
  for (const { id } of topics.flatMap(({ lanes }) => lanes)) {
    const isEmpty = async () => {
      const path = `/v1/subscriptions/${id}`
      const { lane } = await deployment.call<{ lane: { waiting: number; inFlight: number } }>('GET', path)
      return lane.waiting + lane.inFlight === 0
    }
    await whileArriving(stage, `the lane of ${id} to be empty`, isEmpty)
  }
}

/** Waits for the condition for as long as attempts arrive that the retry policies allow. */
async function whileArriving(
  { receiver, number }: Stage,
  what: string,
  isMet: (arrivals: Arrivals) => boolean | Promise<boolean>,
): Promise<Arrivals> {
  let arrivals = await ask<Arrivals>(receiver, 'arrivals')
  while (!(await isMet(arrivals))) {
    const { total } = arrivals
    if (total > 2 * number * FAN_OUT * ATTEMPTS)
      throw new Error(`${total} attempts arrived, twice as many as allowed, before ${what}`)
    const hasChanged = async () => {
      await pause(LOOK_MS)
      arrivals = await ask<Arrivals>(receiver, 'arrivals')
      return arrivals.total > total || (await isMet(arrivals))
    }
    await waitFor(hasChanged, { what: `${what}, or for another attempt`, timeoutMs: SILENCE_MS })
  }
  return arrivals
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
