/**
 * Publishes that the API accepts in a second, one by one and in batches, compared with its own route without storage.
 */
import { dispatchQueueName, queuePrefix } from '@fantail/jobs'
import { Queue } from 'bullmq'
import type { Fantail } from '../../contest/fantail.ts'
import { cpuMs, end, startOwn } from '../../processes/children.ts'
import { ask, type LoadOptions, type LoadResult } from '../../processes/ipc.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { BODY_BYTES, CONNECTIONS, endFantail, fantailOn, type Stage, withStage } from '../../stage.ts'

const TOPIC = 'accepted'
const BATCH = 10

export interface Accepted {
  publishes: number
  requestsPerSecond: number
  /** CPU time of the process that answers. */
  micros: number
  p99Ms: number
}

export const publish: Scenario = {
  name: 'publish',
  summary: 'publishes accepted a second, against the same route that stores nothing; batches of ten',
  run: (options) => withStage((stage) => measured(stage, options)),
}

async function measured(stage: Stage, options: ScenarioOptions): Promise<Row[]> {
  // There is no worker, because only acceptance is measured, and a worker would dispatch even to a topic without
  // subscriptions.
  const fantail = await fantailOn(stage, options, { services: ['publish-api'] })
  await fantail.createTopic(TOPIC)
  const unstored = await startOwn('./unstored-process.ts')
  const port = await ask<number>(unstored, 'port')
  const ends = {
    stored: { port: fantail.port, pid: fantail.processes.api ?? 0 },
    unstored: { port, pid: unstored.pid ?? 0 },
  }
  const lap = async (to: keyof typeof ends, batch?: number) => {
    const result = await accepted(stage, ends[to], { batch, durationMs: options.quick ? 1_000 : 3_000 })
    await empty(fantail)
    options.report(
      `${to}${batch ? ` by ${batch}` : ''}: ${result.requestsPerSecond.toFixed(0)} requests/s, ${result.micros.toFixed(1)} µs each, p99 ${result.p99Ms.toFixed(1)} ms`,
    )
    return result
  }
  const round = async () => ({
    stored: await lap('stored'),
    unstored: await lap('unstored'),
    batches: await lap('stored', BATCH),
  })
  await round()
  const rounds = []
  for (let i = 0; i < (options.quick ? 2 : 5); i++) rounds.push(await round())
  await end(unstored)
  await endFantail(fantail, options)
  return rowsOf(rounds)
}

/** Removes the accepted jobs, because there is no worker, and they must not affect the next lap. */
export async function empty({ redis }: Fantail): Promise<void> {
  const name = dispatchQueueName(0)
  const queue = new Queue(name, { prefix: queuePrefix(name), connection: { url: redis.url } })
  await queue.obliterate({ force: true })
  await queue.close()
}

interface AcceptedLap {
  topic?: string
  /** Each message is an object of this type. Absent: a text. */
  eventType?: string
  batch: number | undefined
  durationMs: number
}

export async function accepted(
  { publishers }: Stage,
  { port, pid }: { port: number; pid: number },
  { topic = TOPIC, eventType, batch, durationMs }: AcceptedLap,
): Promise<Accepted> {
  const load: LoadOptions = {
    port,
    paths: [`/v1/topics/${topic}/messages`],
    connections: CONNECTIONS,
    durationMs,
    requestsMax: Number.MAX_SAFE_INTEGER,
    bodyBytes: BODY_BYTES,
    ...(batch === undefined ? {} : { batch }),
    ...(eventType === undefined ? {} : { eventType }),
  }
  const before = cpuMs(pid)
  const result = await ask<LoadResult>(publishers, 'load', load)
  if (result.refused > 0) throw new Error(`${result.refused} publishes were refused`)
  return {
    publishes: result.accepted,
    requestsPerSecond: (result.accepted * 1_000) / (result.endedAt - result.startedAt),
    micros: ((cpuMs(pid) - before) * 1_000) / result.accepted,
    p99Ms: result.p99Ms,
  }
}

type Round = Record<'stored' | 'unstored' | 'batches', Accepted>

function rowsOf(rounds: Round[]): Row[] {
  const of = (value: (round: Round) => number) => figureOf(rounds.map(value))
  return [
    rowOf(
      'accepted : the same route that stores nothing',
      of(({ stored, unstored }) => stored.requestsPerSecond / unstored.requestsPerSecond),
      { unit: '×', atLeast: 0.65 },
    ),
    rowOf(
      `messages in batches of ${BATCH} : singly`,
      of(({ stored, batches }) => (batches.requestsPerSecond * BATCH) / stored.requestsPerSecond),
      { unit: '×', atLeast: 5 },
    ),
    rowOf(
      'accepted, one at a time',
      of(({ stored }) => stored.requestsPerSecond),
      { unit: '/s' },
    ),
    rowOf(
      'the same route that stores nothing',
      of(({ unstored }) => unstored.requestsPerSecond),
      { unit: '/s' },
    ),
    rowOf(
      `messages in batches of ${BATCH}`,
      of(({ batches }) => batches.requestsPerSecond * BATCH),
      { unit: '/s' },
    ),
    rowOf(
      'CPU of the API per publish',
      of(({ stored }) => stored.micros),
      { unit: 'µs' },
    ),
    rowOf(
      'CPU of the route that stores nothing',
      of(({ unstored }) => unstored.micros),
      { unit: 'µs' },
    ),
    rowOf(
      'answer, p99',
      of(({ stored }) => stored.p99Ms),
      { unit: 'ms' },
    ),
  ]
}
