/**
 * Subscriptions whose endpoints accept requests and never answer, each with a backlog, and one healthy subscription.
 * The scenario measures the latency of the healthy one, and the cost of the waiting lanes for Redis.
 *
 * Each pair is a measurement without the hung subscriptions, and one with them after their messages have been parked.
 * The attempts themselves cost the same with few lanes as with many, because both fill the slots of unproven endpoints.
 */
import type { ChildProcess } from 'node:child_process'
import { Lanes } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { end, startOwn } from '../../processes/children.ts'
import { type Deployment, startDeployment } from '../../processes/deployment.ts'
import { ask } from '../../processes/ipc.ts'
import { monotonicMs } from '../../processes/monotonic.ts'
import { numberedText } from '../../processes/sequence.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import type { Arrivals } from '../parts/answering-receiver-process.ts'
import { createTopic, type Lane } from '../parts/backlog.ts'
import { redisCommands, redisCpuMs } from '../parts/usage.ts'

const FEW_WAIT = 150
const MANY_WAIT = 15_000
const HUNG = [FEW_WAIT, MANY_WAIT]
const HUNG_QUICK = [FEW_WAIT, 1_500]
const MESSAGES = 15
const BODY_BYTES = 1_024
const PUBLISH_EVERY_MS = 100
const MEASURED_MS = 20_000
const QUICK_MS = 3_000
const PAIRS = 3
/** With few slots, 150 lanes already have to wait for a slot, as 15,000 lanes do. */
const ATTEMPTS_MAX = 200
const SLOWER_FACTOR = 1.5
const SLOWER_MS = 10
const FIGURES_AT_ONCE = 1_000
/** A worker keeps up to this many first attempts in memory until they have a slot. It parks further ones in lanes. */
const FIRST_ATTEMPTS_MAX = 1_000

export const hung: Scenario = {
  name: 'hung',
  summary: 'a healthy subscription beside 150 and 15,000 hung ones: p99, Redis commands and CPU per attempt',
  run,
}

interface Measured {
  p99: number
  commandsPerSecond: number
  redisCores: number
  attemptsPerSecond: number
}

interface Stage {
  deployment: Deployment
  healthy: ChildProcess
  hanging: ChildProcess
  options: ScenarioOptions
}

async function run(options: ScenarioOptions): Promise<Row[]> {
  const rows: Row[] = []
  const beside = new Map<number, Measured[]>()
  for (const count of options.quick ? HUNG_QUICK : HUNG) {
    const calm: Measured[] = []
    const troubled: Measured[] = []
    for (let pair = 0; pair < (options.quick ? 1 : PAIRS); pair++) {
      const measured = await measurePair(count, options)
      options.report(`${count} hung: calm ${brief(measured.calm)}; beside them ${brief(measured.troubled)}`)
      calm.push(measured.calm)
      troubled.push(measured.troubled)
    }
    beside.set(count, troubled)
    rows.push(...rowsOf(count, calm, troubled))
  }
  return [...rows, ...waitingRows(beside)]
}

async function measurePair(count: number, options: ScenarioOptions) {
  const healthy = await startOwn('../scenarios/parts/answering-receiver-process.ts')
  const hanging = await startOwn('../scenarios/parts/answering-receiver-process.ts')
  await ask(hanging, 'hang')
  const env = { FANTAIL_ATTEMPTS_MAX: String(ATTEMPTS_MAX) }
  const deployment = await startDeployment({ profileDir: options.profileDir, env })
  const stage: Stage = { deployment, healthy, hanging, options }
  const lanes = await createTopics(stage, count)
  await deployment.startService('publish-api')
  await deployment.startService('delivery-worker')
  // A first measurement opens connections, compiles scripts and gets the first answer of the healthy endpoint.
  await measure(stage, QUICK_MS)
  const calm = await measure(stage, options.quick ? QUICK_MS : MEASURED_MS)
  for (let number = 0; number < MESSAGES; number++) await publish(deployment, 'hung', number)
  await waitFor(() => areParked(deployment, lanes), {
    what: 'the deliveries in their lanes',
    timeoutMs: 120_000,
    intervalMs: 500,
  })
  const troubled = await measure(stage, options.quick ? QUICK_MS : MEASURED_MS)
  await deployment.stop()
  await Promise.all([end(healthy), end(hanging)])
  return { calm, troubled }
}

async function createTopics({ deployment, healthy, hanging }: Stage, count: number): Promise<Lane[]> {
  const [healthyPort, hangingPort] = [await ask<number>(healthy, 'port'), await ask<number>(hanging, 'port')]
  await createTopic(deployment.redis, {
    name: 'healthy',
    subscriptions: 1,
    endpoint: () => `http://127.0.0.1:${healthyPort}/`,
  })
  const { lanes } = await createTopic(deployment.redis, {
    name: 'hung',
    subscriptions: count,
    endpoint: (lane) => `http://127.0.0.1:${hangingPort}/s${lane}`,
  })
  return lanes
}

async function publish(deployment: Deployment, topic: string, number: number): Promise<void> {
  const message = numberedText(number, BODY_BYTES)
  await deployment.call('POST', `/v1/topics/${topic}/messages`, { message })
}

async function areParked({ redis }: Deployment, lanes: Lane[]): Promise<boolean> {
  const store = new Lanes(redis)
  let found = 0
  for (let from = 0; from < lanes.length; from += FIGURES_AT_ONCE) {
    const some = lanes.slice(from, from + FIGURES_AT_ONCE)
    const figures = await store.figures(some.map(({ id, shard }) => ({ subscriptionId: id, shard })))
    found += figures.reduce((sum, { waiting, inFlight }) => sum + waiting + inFlight, 0)
  }
  return found >= lanes.length * MESSAGES - FIRST_ATTEMPTS_MAX
}

/**
 * Runs the healthy subscription's load for this time, and measures Redis and the attempts of the hung ones meanwhile.
 */
async function measure({ deployment, healthy, hanging }: Stage, ms: number): Promise<Measured> {
  const { redis } = deployment
  await ask(healthy, 'forget')
  const attemptsBefore = (await ask<Arrivals>(hanging, 'arrivals')).total
  const [commandsBefore, cpuBefore] = [await redisCommands(redis), await redisCpuMs(redis)]
  const startedAt = monotonicMs()
  const sentAt: number[] = []
  const publishes: Promise<void>[] = []
  for (let number = 0; number * PUBLISH_EVERY_MS < ms; number++) {
    const waitMs = startedAt + number * PUBLISH_EVERY_MS - monotonicMs()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    sentAt.push(monotonicMs())
    publishes.push(publish(deployment, 'healthy', number))
  }
  await Promise.all(publishes)
  const seconds = (monotonicMs() - startedAt) / 1_000
  const [commands, cpu] = [await redisCommands(redis), await redisCpuMs(redis)]
  const attempts = (await ask<Arrivals>(hanging, 'arrivals')).total
  const isDone = async () => (await ask<Arrivals>(healthy, 'arrivals')).distinct === sentAt.length
  await waitFor(isDone, { what: 'every message at the healthy endpoint', timeoutMs: 120_000 })
  const times = await ask<[number, number][]>(healthy, 'lastTimes')
  const took = times.map(([number, at]) => at - (sentAt[number] ?? Number.NaN)).sort((a, b) => a - b)
  return {
    p99: took[Math.floor(took.length * 0.99)] ?? Number.NaN,
    commandsPerSecond: (commands - commandsBefore) / seconds,
    redisCores: (cpu - cpuBefore) / 1_000 / seconds,
    attemptsPerSecond: (attempts - attemptsBefore) / seconds,
  }
}

function rowsOf(count: number, calm: Measured[], troubled: Measured[]): Row[] {
  const of = (all: Measured[], name: keyof Measured) => figureOf(all.map((one) => one[name]))
  const calmP99 = of(calm, 'p99')
  const beside = `beside ${count} hung`
  return [
    rowOf(`publish to arrival, calm, p99, pair of ${count}`, calmP99, { unit: 'ms' }),
    rowOf(`publish to arrival ${beside}, p99`, of(troubled, 'p99'), {
      unit: 'ms',
      atMost: SLOWER_FACTOR * calmP99.median + SLOWER_MS,
    }),
    rowOf(`Redis commands ${beside}`, of(troubled, 'commandsPerSecond'), { unit: '/s' }),
    rowOf(`Redis ${beside}`, of(troubled, 'redisCores'), { unit: 'cores' }),
    rowOf(`attempts ${beside}`, of(troubled, 'attemptsPerSecond'), { unit: '/s' }),
  ]
}

/**
 * The cost of waiting lanes, from measurements with few and with many of them. Both have the same number of attempts.
 */
function waitingRows(beside: Map<number, Measured[]>): Row[] {
  const [few = [], many = []] = [beside.get(FEW_WAIT), beside.get(MANY_WAIT)]
  if (few.length === 0 || many.length === 0) return []
  const pairs = many.map((one, i) => ({ many: one, few: few[i] ?? one }))
  const commands = pairs.map((pair) => pair.many.commandsPerSecond / pair.few.commandsPerSecond)
  const cores = pairs.map((pair) => pair.many.redisCores - pair.few.redisCores)
  const figure = `beside ${MANY_WAIT} hung against ${FEW_WAIT}`
  return [
    rowOf(`Redis commands ${figure}`, figureOf(commands), { unit: '×', atLeast: 0.9, atMost: 1.1 }),
    rowOf(`Redis ${figure}, more`, figureOf(cores), { unit: 'cores', atMost: 0.05 }),
  ]
}

function brief({ p99, commandsPerSecond, redisCores, attemptsPerSecond }: Measured): string {
  const [commands, attempts] = [commandsPerSecond.toFixed(0), attemptsPerSecond.toFixed(1)]
  return `p99 ${p99.toFixed(1)} ms, ${commands} commands/s, Redis ${redisCores.toFixed(3)}, ${attempts} attempts/s`
}
