/**
 * Ten thousand lanes with a backlog, each with a throttle of one delivery a second. The scenario measures the rate of
 * every lane, and the cost for Redis and the worker.
 */
import { laneKey, shardBase } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import type { Redis } from 'ioredis'
import { cpuMs, end, startOwn } from '../../processes/children.ts'
import { type Deployment, startDeployment } from '../../processes/deployment.ts'
import { ask } from '../../processes/ipc.ts'
import { monotonicMs } from '../../processes/monotonic.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import type { Arrivals } from '../parts/answering-receiver-process.ts'
import { createTopic, type Lane, messagesFor, park } from '../parts/backlog.ts'

const TOPICS = 100
const LANES_PER_TOPIC = 100
const RATE = 1
const BODY_BYTES = 1_024
const WARM_UP_MS = 10_000
const MEASURED_MS = 30_000
const QUICK_MS = 5_000
/** A lane sends fewer messages than this during the scenario. */
const MESSAGES = 90

export const throttled: Scenario = {
  name: 'throttled',
  summary: '10,000 lanes throttled to 1 delivery a second each: rate kept, CPU',
  run,
}

async function run(options: ScenarioOptions): Promise<Row[]> {
  const receiver = await startOwn('../scenarios/parts/answering-receiver-process.ts')
  const deployment = await startDeployment({ profileDir: options.profileDir })
  const filled = await fill(deployment, await ask<number>(receiver, 'port'))
  const lanes = TOPICS * LANES_PER_TOPIC
  options.report(`${lanes * MESSAGES} deliveries wait in ${lanes} lanes`)
  const { pid } = await deployment.startService('delivery-worker')
  const isBusy = async () => (await ask<Arrivals>(receiver, 'arrivals')).total > lanes
  await waitFor(isBusy, { what: 'every lane to be served', timeoutMs: 60_000, intervalMs: 100 })
  await spread(deployment.redis, filled)
  await pause(options.quick ? QUICK_MS : WARM_UP_MS)
  await ask(receiver, 'forget')
  const before = { at: monotonicMs(), redis: await deployment.server.cpuMs(), worker: cpuMs(pid) }
  await pause(options.quick ? QUICK_MS : MEASURED_MS)
  const ms = monotonicMs() - before.at
  const redis = ((await deployment.server.cpuMs()) - before.redis) / ms
  const worker = (cpuMs(pid) - before.worker) / ms
  const { total, distinct } = await ask<Arrivals>(receiver, 'arrivals')
  const rates = (await ask<number[]>(receiver, 'rates')).sort((a, b) => a - b)
  await deployment.stop()
  await end(receiver)
  const each = { unit: '/s', atLeast: RATE * 0.97, atMost: RATE * 1.03 }
  return [
    {
      figure: 'deliveries',
      value: (total * 1_000) / ms / lanes,
      ...each,
      note: `of each lane; ${total - distinct} twice`,
    },
    { figure: 'the slowest lane', value: rates[0] ?? Number.NaN, ...each, note: `${rates.length} lanes` },
    { figure: 'the fastest lane', value: rates.at(-1) ?? Number.NaN, ...each },
    { figure: 'Redis', value: redis, unit: 'cores', atMost: 0.5 },
    { figure: 'worker', value: worker, unit: 'cores', atMost: 0.5 },
    { figure: 'Redis, per delivery', value: (redis * ms * 1_000) / total, unit: 'µs' },
    { figure: 'worker, per delivery', value: (worker * ms * 1_000) / total, unit: 'µs' },
  ]
}

async function fill({ redis }: Deployment, port: number): Promise<Lane[]> {
  const deliveryPolicy = { throttlePolicy: { maxReceivesPerSecond: RATE } }
  const all: Lane[] = []
  for (let topic = 0; topic < TOPICS; topic++) {
    const endpoint = (lane: number) => `http://127.0.0.1:${port}/t${topic}/s${lane}`
    const shape = { name: `throttled-${topic}`, subscriptions: LANES_PER_TOPIC, endpoint, deliveryPolicy }
    const { arn, lanes } = await createTopic(redis, shape)
    await park(redis, lanes, messagesFor(arn, MESSAGES, BODY_BYTES), { as: 'fresh' })
    all.push(...lanes)
  }
  return all
}

/**
 * Spreads the lanes' send times over a second, as if they had been filled at different times. With equal send times
 * many lanes would share a script.
 */
async function spread(redis: Redis, lanes: Lane[]): Promise<void> {
  const pipeline = redis.pipeline()
  for (const { id, shard } of lanes) {
    pipeline.hset(laneKey(shardBase(shard), id), 'x', Date.now() + Math.random() * (1_000 / RATE))
  }
  await pipeline.exec()
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
