/**
 * Measures what a change of a topic with ten million subscriptions costs in its home shard, compared with a topic of
 * five hundred. Only the topic's list of slices is as long as that of such a topic. All slices except the last are
 * marked as full, and do not exist.
 */
import { topicKey } from '@fantail/store'
import { Redis } from 'ioredis'
import { startBenchRedis } from '../../processes/bench-redis.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { createTopic } from '../parts/backlog.ts'
import { redisCpuMs } from '../parts/usage.ts'

const PER_SLICE = 500
const SIZES = [500, 100_000, 10_000_000]
const CREATED = 400
const ROUNDS = 5
const INDEXED = 20_000

export const largeTopic: Scenario = {
  name: 'large-topic',
  summary: 'subscribing to a topic of up to ten million: CPU of Redis, bytes in the home shard',
  run,
}

async function run({ quick, report }: ScenarioOptions): Promise<Row[]> {
  const server = await startBenchRedis()
  const redis = new Redis(server.url)
  const rows: Row[] = []
  for (const size of SIZES) {
    const micros: number[] = []
    for (let round = 0; round < (quick ? 2 : ROUNDS); round++) micros.push(await creationMicros(redis, size))
    report(`${size}: ${micros.map((value) => value.toFixed(0)).join(', ')} µs`)
    const figure = `subscribing to a topic of ${size.toLocaleString('en-US')}, Redis`
    rows.push(rowOf(figure, figureOf(micros), { unit: 'µs' }))
  }
  rows.push(await indexRow(redis))
  redis.disconnect()
  await server.stop()
  return rows
}

/** The last slice is empty at first. */
async function creationMicros(redis: Redis, size: number): Promise<number> {
  await redis.flushall()
  const { arn } = await subscribe(redis, 1)
  const slices = size / PER_SLICE
  const counts = Array.from({ length: slices }, (_, i) => (i < slices - 1 ? `${PER_SLICE}` : '  0'))
  await redis.hset(topicKey(arn), 'slices', `[${counts.join(',')}]`, 'free', String(slices - 1))
  const before = await redisCpuMs(redis)
  await subscribe(redis, CREATED)
  return (((await redisCpuMs(redis)) - before) * 1_000) / CREATED
}

function subscribe(redis: Redis, subscriptions: number) {
  const endpoint = (number: number) => `http://127.0.0.1:9/hooks/of-${subscriptions}/${number}`
  return createTopic(redis, { name: 'large', subscriptions, endpoint })
}

/** The home shard holds the endpoints of all subscriptions, wherever their slices are. */
async function indexRow(redis: Redis): Promise<Row> {
  await redis.flushall()
  await subscribe(redis, INDEXED)
  const [key = ''] = await redis.keys('ft:*:endpoints:*')
  const bytes = Number(await redis.memory('USAGE', key, 'SAMPLES', 0))
  return {
    figure: 'index of endpoints in the home shard, per subscription',
    value: bytes / INDEXED,
    unit: 'bytes',
  }
}
