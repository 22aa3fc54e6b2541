/**
 * CPU per delivery with recordings, against the same processes without. Each round is a lap with them and a lap
 * without. Statistics have no switch, so their cost is measured alone and added.
 */
import { bucketOf, StatsCounter, StatsStore } from '@fantail/store'
import { Redis } from 'ioredis'
import type { Fantail } from '../../contest/fantail.ts'
import { usedCpuMs } from '../../processes/bench-redis.ts'
import { rowOf } from '../../report/rows.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { endFantail, fantailOn, type Stage, withStage } from '../../stage.ts'
import { costOfTopic, FAN_OUT, onTopic } from '../parts/topic-laps.ts'

const WITHIN = 1.02
const ROUNDS = 24
const COUNTED = 2_000_000
const OFF = { recordAttempts: 'none', keepMessages: null }
const ATTEMPTS = { recordAttempts: 'all', keepMessages: null }
const MESSAGES = { recordAttempts: 'all', keepMessages: { seconds: 60, bytes: 67_108_864 } }

export const recordings: Scenario = {
  name: 'recordings',
  summary: 'CPU per delivery with statistics, recorded attempts and kept messages, against none',
  run: (options) =>
    withStage(async (stage) => {
      const fantail = await fantailOn(stage, options)
      const stats = await statsMicros(fantail, options)
      const rows = [
        ...(await compare(stage, fantail, { name: 'attempts', settings: ATTEMPTS, stats, options })),
        ...(await compare(stage, fantail, {
          name: 'attempts and messages',
          settings: MESSAGES,
          stats,
          options,
        })),
      ]
      await endFantail(fantail, options)
      return [...rows, { figure: 'statistics, by themselves, CPU per delivery', value: stats, unit: 'µs' }]
    }),
}

interface Compared {
  name: string
  settings: object
  /** CPU of statistics in µs per delivery. */
  stats: number
  options: ScenarioOptions
}

async function compare(
  stage: Stage,
  fantail: Fantail,
  { name, settings, stats, options }: Compared,
): Promise<Row[]> {
  const topic = name.replaceAll(' ', '-')
  const on = await onTopic(stage, fantail, { name: `with-${topic}`, settings })
  const off = await onTopic(stage, fantail, { name: `without-${topic}`, settings: OFF })
  const compared = { name, topics: [on, off], rounds: ROUNDS, addedMicros: stats } as const
  const { ratio, plain, note } = await costOfTopic(stage, compared, options)
  const bar = name === 'attempts' ? { atMost: WITHIN } : {}
  return [
    rowOf(`statistics, ${name} recorded : nothing, CPU`, ratio, { unit: '×', ...bar, note }),
    rowOf(`nothing recorded (beside ${name}), CPU per delivery`, plain, { unit: 'µs' }),
  ]
}

/** A worker counts each delivery for its topic and for its subscription. This includes the writes to Redis. */
async function statsMicros({ redis: server }: Fantail, { quick }: ScenarioOptions): Promise<number> {
  const redis = new Redis(server.url)
  const counter = new StatsCounter({
    store: new StatsStore(redis),
    now: Date.now,
    onFlush: (_, error) => {
      if (error) throw error
    },
    flushMs: 100,
  })
  const deliveries = quick ? COUNTED / 5 : COUNTED
  const topic = counter.topic('arn:aws:sns:us-east-1:000000000000:counted')
  const subscriptions = Array.from({ length: FAN_OUT }, (_, n) => counter.subscription(`counted-${n}`))
  const before = { own: process.cpuUsage(), redis: usedCpuMs(await redis.info('cpu')) }
  for (let n = 0; n < deliveries; n++) {
    const at = Date.now()
    const bucket = bucketOf(n % 1_000)
    topic.delivered(at, bucket)
    subscriptions[n % FAN_OUT]?.delivered(at, bucket)
    // Flushes run in between, as they do in a worker.
    if (n % 10_000 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await counter.stop()
  const { user, system } = process.cpuUsage(before.own)
  const redisMicros = (usedCpuMs(await redis.info('cpu')) - before.redis) * 1_000
  redis.disconnect()
  return (user + system + redisMicros) / deliveries
}
