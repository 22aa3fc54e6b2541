/**
 * A million waiting deliveries over a thousand lanes. The scenario measures the memory of one delivery in Redis. It
 * also measures whether taking, settling and the start of a worker are slower than with ten thousand deliveries.
 *
 * There are ten topics of a hundred subscriptions, so a hundred deliveries share a body. Takes and settlements are made
 * as a worker makes them, on both backlogs in turn. The smaller backlog is filled up again between the measurements.
 */
import type { ChildProcess } from 'node:child_process'
import { Lanes, type ParkAs, type Settlement } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { Redis } from 'ioredis'
import { startBenchRedis } from '../../processes/bench-redis.ts'
import { end, startOwn } from '../../processes/children.ts'
import { type Deployment, startDeployment } from '../../processes/deployment.ts'
import { ask } from '../../processes/ipc.ts'
import { monotonicMs } from '../../processes/monotonic.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import type { Arrivals } from '../parts/answering-receiver-process.ts'
import { createTopic, messagesFor, park, RETRY_TOMORROW, type TopicLanes } from '../parts/backlog.ts'
import { redisBytes, redisCpuMs } from '../parts/usage.ts'

const TOPICS = 10
const LANES_PER_TOPIC = 100
const BODY_BYTES = 1_024
const FEW_PER_LANE = 10
const MANY_PER_LANE = 1_000
/** Number of claims that one take gives to a lane whose endpoint is not known to answer promptly. */
const CLAIMS_PER_LANE = 4
const ROUNDS = 5
const LAPS_PER_ROUND = 5
const STARTS = 3

export const waiting: Scenario = {
  name: 'waiting',
  summary: '1,000,000 waiting deliveries over 1,000 lanes: bytes, takes, settlements, start of a worker',
  run,
}

async function run(options: ScenarioOptions): Promise<Row[]> {
  const many = options.quick ? 100 : MANY_PER_LANE
  const receiver = await startOwn('../scenarios/parts/answering-receiver-process.ts')
  const few = await build(receiver, FEW_PER_LANE, options)
  const full = await build(receiver, many, options)
  options.report(`${TOPICS * LANES_PER_TOPIC * many} deliveries wait`)
  const rates = await rateRows(few, full, options)
  const starts = await startRows({ few, full, receiver, options })
  await few.deployment.stop()
  await full.deployment.stop()
  await end(receiver)
  return [...full.rows, ...(await retryRows(many)), ...rates, ...starts]
}

interface Backlog {
  deployment: Deployment
  topics: TopicLanes[]
  /** Its cost in Redis. */
  rows: Row[]
}

async function build(receiver: ChildProcess, perLane: number, options: ScenarioOptions): Promise<Backlog> {
  const port = await ask<number>(receiver, 'port')
  const deployment = await startDeployment({ profileDir: options.profileDir })
  const topics = await createTopics(deployment.redis, port)
  const { delivery, body } = await parkMeasured(deployment.redis, topics, perLane, { as: 'fresh' })
  const rows: Row[] = [
    { figure: 'waiting for its first attempt', value: delivery, unit: 'bytes', atMost: 150 },
    {
      figure: 'a body, once per message and shard',
      value: body,
      unit: 'bytes',
      note: `a text of ${BODY_BYTES}`,
    },
  ]
  return { deployment, topics, rows }
}

async function createTopics(redis: Redis, port: number): Promise<TopicLanes[]> {
  const topics: TopicLanes[] = []
  for (let number = 0; number < TOPICS; number++) {
    const endpoint = (lane: number) => `http://127.0.0.1:${port}/t${number}/s${lane}`
    topics.push(
      await createTopic(redis, { name: `waiting-${number}`, subscriptions: LANES_PER_TOPIC, endpoint }),
    )
  }
  return topics
}

/**
 * Measures bytes per delivery and per body. The first lane of each topic adds bodies and deliveries, the others only
 * deliveries.
 */
async function parkMeasured(redis: Redis, topics: TopicLanes[], perLane: number, as: ParkAs) {
  const messages = topics.map(({ arn }) => messagesFor(arn, perLane, BODY_BYTES))
  const parkIn = async (from: number, to?: number) => {
    for (const [i, { lanes }] of topics.entries())
      await park(redis, lanes.slice(from, to), messages[i] ?? [], as)
    return redisBytes(redis)
  }
  const empty = await redisBytes(redis)
  const first = await parkIn(0, 1)
  const all = await parkIn(1)
  const delivery = (all - first) / (TOPICS * (LANES_PER_TOPIC - 1) * perLane)
  return { delivery, body: (first - empty) / (TOPICS * perLane) - delivery }
}

async function retryRows(perLane: number): Promise<Row[]> {
  const server = await startBenchRedis()
  const redis = new Redis(server.url)
  const topics = await createTopics(redis, 9)
  const { delivery } = await parkMeasured(redis, topics, perLane, RETRY_TOMORROW)
  redis.disconnect()
  await server.stop()
  return [{ figure: 'waiting for a retry', value: delivery, unit: 'bytes', atMost: 230 }]
}

interface Work {
  takeMs: number
  settleMs: number
  cpuMs: number
  deliveries: number
}

async function rateRows(few: Backlog, full: Backlog, { report }: ScenarioOptions): Promise<Row[]> {
  await round(few)
  await round(full)
  const pairs: { few: Work; full: Work }[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const fullFirst = i % 2 === 1 ? await round(full) : undefined
    const pair = { few: await round(few), full: fullFirst ?? (await round(full)) }
    report(`few ${brief(pair.few)}; full ${brief(pair.full)}`)
    pairs.push(pair)
  }
  const ratio = (of: (work: Work) => number) => pairs.map((pair) => of(pair.full) / of(pair.few))
  const cost = pairs.map(({ full: { cpuMs, deliveries } }) => (cpuMs * 1_000) / deliveries)
  return [
    { ...row('takes, against a small backlog', ratio(takeRate), 'x'), atLeast: 0.8 },
    { ...row('settlements, against a small backlog', ratio(settleRate), 'x'), atLeast: 0.8 },
    row(
      'takes',
      pairs.map((pair) => takeRate(pair.full)),
      'deliveries/s',
    ),
    row(
      'settlements',
      pairs.map((pair) => settleRate(pair.full)),
      'deliveries/s',
    ),
    row('Redis, take and settle of one', cost, 'µs'),
  ]
}

const takeRate = ({ deliveries, takeMs }: Work) => (deliveries * 1_000) / takeMs
const settleRate = ({ deliveries, settleMs }: Work) => (deliveries * 1_000) / settleMs
const brief = (work: Work) =>
  `${takeRate(work).toFixed(0)} taken/s, ${settleRate(work).toFixed(0)} settled/s, ${((work.cpuMs * 1_000) / work.deliveries).toFixed(1)} µs of Redis`

function row(figure: string, values: number[], unit: string): Row {
  const { median, min, max } = figureOf(values)
  return { figure, value: median, spread: [min, max], unit }
}

async function round({ deployment: { redis }, topics }: Backlog): Promise<Work> {
  const work: Work = { takeMs: 0, settleMs: 0, cpuMs: 0, deliveries: 0 }
  for (let lap = 0; lap < LAPS_PER_ROUND; lap++) {
    const cpuBefore = await redisCpuMs(redis)
    for (const shard of new Set(topics.flatMap(({ lanes }) => lanes.map((lane) => lane.shard)))) {
      await takeAndSettle(new Lanes(redis), shard, work)
    }
    work.cpuMs += (await redisCpuMs(redis)) - cpuBefore
    // The larger backlog is also filled up, so that both backlogs have the same history.
    for (const { arn, lanes } of topics) {
      await park(redis, lanes, messagesFor(arn, CLAIMS_PER_LANE, BODY_BYTES), { as: 'fresh' })
    }
  }
  return work
}

/** Takes and settles once from every lane of the shard. */
async function takeAndSettle(lanes: Lanes, shard: number, work: Work): Promise<void> {
  const request = {
    lanesMax: 100,
    deliveriesMax: 500,
    leaseMs: 20_000,
    limits: new Map(),
    othersMax: CLAIMS_PER_LANE,
  }
  for (;;) {
    const begun = performance.now()
    const taken = await lanes.take(shard, request)
    const took = performance.now()
    const settlements = taken.lanes.flatMap(({ subscriptionId, claims }) =>
      claims.map(
        ({ delivery, lease }): Settlement => ({ subscriptionId, delivery, lease, to: { op: 'delivered' } }),
      ),
    )
    if (settlements.length === 0) return
    await lanes.settle(shard, settlements)
    work.takeMs += took - begun
    work.settleMs += performance.now() - took
    work.deliveries += settlements.length
    if (taken.lanes.length < 100) return
  }
}

interface StartOptions {
  few: Backlog
  full: Backlog
  receiver: ChildProcess
  options: ScenarioOptions
}

async function startRows({ few, full, receiver, options }: StartOptions): Promise<Row[]> {
  const ready: number[] = []
  const first: number[] = []
  const times: number[] = []
  for (let i = 0; i < STARTS; i++) {
    const small = await startOnce(few, receiver)
    const large = await startOnce(full, receiver)
    options.report(
      `few: ready in ${small.readyMs.toFixed(0)}, first in ${small.firstMs.toFixed(0)} ms; full: ${large.readyMs.toFixed(0)}, ${large.firstMs.toFixed(0)} ms`,
    )
    ready.push(large.readyMs / small.readyMs)
    first.push(large.firstMs / small.firstMs)
    times.push(large.firstMs)
  }
  return [
    { ...row('start of a worker until it is ready, against a small backlog', ready, 'x'), atMost: 1.2 },
    { ...row('start of a worker until it delivers, against a small backlog', first, 'x'), atMost: 1.2 },
    row('start of a worker until it delivers', times, 'ms'),
  ]
}

async function startOnce({ deployment, topics }: Backlog, receiver: ChildProcess) {
  for (const { arn, lanes } of topics) {
    await park(deployment.redis, lanes, messagesFor(arn, 1, BODY_BYTES), { as: 'fresh' })
  }
  await ask(receiver, 'forget')
  const startedAt = monotonicMs()
  const worker = await deployment.startService('delivery-worker')
  let arrivals = await ask<Arrivals>(receiver, 'arrivals')
  const isDelivering = async () => {
    arrivals = await ask<Arrivals>(receiver, 'arrivals')
    return arrivals.total > 0
  }
  await waitFor(isDelivering, { what: 'the first delivery of a started worker' })
  await worker.stop()
  return { readyMs: worker.readyMs, firstMs: arrivals.firstAt - startedAt }
}
