/**
 * Compares two deployments in turn: a million subscriptions to a hundred thousand topics, and a thousand subscriptions
 * to a hundred topics. Measured are the memory of a subscription in Redis, and the cost of a delivery for API, worker
 * and Redis together. The large deployment is measured twice. First it uses as many topics as the small one. Then each
 * publish goes to a topic that was not used before.
 */
import { type ChildProcess, execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { waitFor } from '@fantail/test-kit'
import { cpuMs, end, startOwn } from '../../processes/children.ts'
import { type Deployment, type Service, startDeployment } from '../../processes/deployment.ts'
import { ask } from '../../processes/ipc.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import type { Arrivals } from '../parts/answering-receiver-process.ts'
import { createTopic, each } from '../parts/backlog.ts'
import type { TopicLoad } from '../parts/topic-publishers-process.ts'
import { redisBytes, residentBytes } from '../parts/usage.ts'

const FEW_TOPICS = 100
const MANY_TOPICS = 100_000
const FAN_OUT = 10
const BODY_BYTES = 1_024
const CONNECTIONS = 32
const PAIRS = 5
const MESSAGES = 8_000
const SNAPSHOT_BYTES = fileURLToPath(
  new URL('../../../../services/delivery-worker/bench/snapshot-bytes.ts', import.meta.url),
)
export const subscriptions: Scenario = {
  name: 'subscriptions',
  summary: '1,000,000 subscriptions to 100,000 topics: bytes, and cost of publishing against a small case',
  run,
}

interface Stage {
  deployment: Deployment
  processes: Service[]
  worker: Service
  /** Where the API listens. */
  port: number
}

async function run(options: ScenarioOptions): Promise<Row[]> {
  const receiver = await startOwn('../scenarios/parts/answering-receiver-process.ts')
  const publishers = await startOwn('../scenarios/parts/topic-publishers-process.ts')
  const topics = options.quick ? MANY_TOPICS / 20 : MANY_TOPICS
  const receiverPort = await ask<number>(receiver, 'port')
  const few = await startDeployment({ profileDir: options.profileDir })
  await fill(few, FEW_TOPICS, receiverPort)
  const many = await startDeployment({ profileDir: options.profileDir })
  const { bytes, topicBytes } = await fill(many, topics, receiverPort)
  options.report(
    `${topics * FAN_OUT} subscriptions, ${bytes.toFixed(0)} bytes each, and ${topicBytes.toFixed(0)} a topic`,
  )
  const small = await startStage(few)
  const large = await startStage(many)
  const costs = new Costs({ small, large, receiver, publishers, topics, options })
  const rows = await costs.rows()
  await few.stop()
  await many.stop()
  await end(receiver)
  await end(publishers)
  const state = [
    { figure: 'a subscription in Redis', value: bytes, unit: 'bytes' },
    {
      figure: 'a topic in Redis',
      value: topicBytes,
      unit: 'bytes',
      note: `without its ${FAN_OUT} subscriptions`,
    },
  ]
  return [...state, ...rows, await snapshotRow()]
}

/**
 * Bytes of a subscription, and of a topic with its slice. Both follow from the memory before and after the first
 * subscriptions.
 */
async function fill({ redis }: Deployment, topics: number, port: number) {
  const empty = await redisBytes(redis)
  const endpoint = (topic: number, number: number) =>
    `http://127.0.0.1:${port}/hooks/customer-${String(topic).padStart(8, '0')}/orders?source=${number}`
  const create = (number: number, subscribed: number) =>
    createTopic(redis, {
      name: `orders-${number}`,
      subscriptions: subscribed,
      endpoint: (lane) => endpoint(number, lane),
    })
  await each(topics, (number) => create(number, 1))
  const one = await redisBytes(redis)
  await each(topics, (number) => create(number, FAN_OUT))
  const bytes = ((await redisBytes(redis)) - one) / (topics * (FAN_OUT - 1))
  return { bytes, topicBytes: (one - empty) / topics - bytes }
}

async function startStage(deployment: Deployment): Promise<Stage> {
  const api = await deployment.startService('publish-api')
  const worker = await deployment.startService('delivery-worker')
  return { deployment, processes: [api, worker], worker, port: deployment.apiPort }
}

interface CostOptions {
  small: Stage
  large: Stage
  receiver: ChildProcess
  publishers: ChildProcess
  /** Topics of the large size. */
  topics: number
  options: ScenarioOptions
}

interface Pair {
  small: number
  cost: number
}

const ratios = (pairs: Pair[]) => pairs.map(({ small, cost }) => cost / small)

class Costs {
  readonly #options: CostOptions
  /** The next topic of the large deployment to which no message was published yet. */
  #cold = FEW_TOPICS

  constructor(options: CostOptions) {
    this.#options = options
  }

  async rows(): Promise<Row[]> {
    const { small, large } = this.#options
    const smallLap = () => this.#lap(small, 0, FEW_TOPICS)
    const hotLap = () => this.#lap(large, 0, FEW_TOPICS)
    for (const lap of [smallLap, hotLap]) await lap()
    const before = residentBytes(large.worker.pid)
    const hot = await this.#pairs('as few topics in use', smallLap, hotLap)
    // This measurement comes last. The snapshots of these many topics leave garbage, which the next lap would have to
    // collect.
    const cold = await this.#pairs('new topics', smallLap, () => this.#coldLap())
    const filled = await this.#pairs('as few, the cache full', smallLap, hotLap)
    const grown = residentBytes(large.worker.pid) - before
    const note = `API, worker and Redis; fan-out ${FAN_OUT}`
    const costs = (pairs: Pair[]) => pairs.map((pair) => pair.cost)
    return [
      { ...row('a delivery, against the small case', ratios(hot), 'x'), atMost: 1.1 },
      row('a delivery, each to a topic not in use, against the small case', ratios(cold), 'x'),
      row('a delivery, with a cache full of those, against the small case', ratios(filled), 'x'),
      { ...row('a delivery', costs(hot), 'µs'), note },
      row('a delivery, each to a topic not in use', costs(cold), 'µs'),
      {
        figure: 'worker, grown',
        value: grown / 1_048_576,
        unit: 'MiB',
        note: `after ${this.#cold} topics; resident`,
      },
    ]
  }

  /** Laps of both deployments. The order changes after every pair. */
  async #pairs(what: string, smallLap: () => Promise<number>, lap: () => Promise<number>): Promise<Pair[]> {
    const pairs: Pair[] = []
    for (let i = 0; i < PAIRS; i++) {
      const first = i % 2 === 1 ? await lap() : undefined
      const small = await smallLap()
      const pair = { small, cost: first ?? (await lap()) }
      this.#options.options.report(`µs a delivery: ${pair.small.toFixed(1)}, ${what} ${pair.cost.toFixed(1)}`)
      pairs.push(pair)
    }
    return pairs
  }

  async #coldLap(): Promise<number> {
    const { large, topics } = this.#options
    const from = this.#cold
    const count = Math.min(MESSAGES, Math.floor((topics - FEW_TOPICS) / PAIRS))
    this.#cold += count
    return this.#lap(large, from, count)
  }

  /** CPU microseconds per delivery. */
  async #lap(stage: Stage, from: number, topics: number): Promise<number> {
    const { receiver, publishers } = this.#options
    await ask(receiver, 'forget')
    const load: TopicLoad = {
      port: stage.port,
      connections: CONNECTIONS,
      bodyBytes: BODY_BYTES,
      messages: MESSAGES,
      prefix: 'orders-',
      from,
      topics,
    }
    const before = await usedMs(stage)
    const { accepted } = await ask<{ accepted: number }>(publishers, 'load', load)
    const all = async () => (await ask<Arrivals>(receiver, 'arrivals')).total >= accepted * FAN_OUT
    await waitFor(all, { what: 'every delivery', timeoutMs: 60_000, intervalMs: 25 })
    return (((await usedMs(stage)) - before) * 1_000) / (accepted * FAN_OUT)
  }
}

/**
 * The heap that snapshots take in a worker, compared with the size that its cache counts and limits. Measured in a
 * separate process.
 */
async function snapshotRow(): Promise<Row> {
  const words = ['--expose-gc', '--conditions=@fantail/source', SNAPSHOT_BYTES, String(FAN_OUT)]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  const { bytes, counted } = JSON.parse(stdout) as { bytes: number; counted: number }
  return {
    figure: 'a snapshot in the worker, to what its cache of 128 MiB counts',
    value: bytes / counted,
    unit: 'x',
    atMost: 1.1,
    note: `${Math.round(bytes)} bytes with ${FAN_OUT} subscriptions`,
  }
}

async function usedMs({ deployment, processes }: Stage): Promise<number> {
  const own = processes.reduce((sum, { pid }) => sum + cpuMs(pid), 0)
  return own + (await deployment.server.cpuMs())
}

function row(figure: string, values: number[], unit: string): Row {
  const { median, min, max } = figureOf(values)
  return { figure, value: median, spread: [min, max], unit }
}
