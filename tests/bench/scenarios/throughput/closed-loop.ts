/**
 * Publishers that wait for each answer before the next request, with all of Fantail on the same machine. Measured are
 * the accepted publishes and the used share of the machine. The rest of the time all processes wait. Laps with a Redis
 * that never syncs show how much of it they wait for `fdatasync`.
 */
import { Redis } from 'ioredis'
import type { Fantail } from '../../contest/fantail.ts'
import { whenArrived } from '../../contest/measure.ts'
import { ask } from '../../processes/ipc.ts'
import { busyShare, ticksNow } from '../../report/others.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import {
  BODY_BYTES,
  CONNECTIONS,
  endFantail,
  fantailOn,
  interleaved,
  type Stage,
  withStage,
} from '../../stage.ts'

const DURATION_MS = 7_000
const PATHS = ['/s0']

interface Run {
  publishesPerSecond: number
  p99Ms: number
  busyPercent: number
}

export const closedLoop: Scenario = {
  name: 'closed-loop',
  summary: 'publishes/s of 64 publishers that wait for each answer, and the share of the machine in use',
  run: (options) =>
    withStage(async (stage) => {
      const fantail = await fantailOn(stage, options)
      const unsynced = await fantailOn(stage, options)
      await stopSyncing(unsynced)
      const laps = [
        () => publishFor(stage, fantail, options, 'fsync'),
        () => publishFor(stage, unsynced, options, 'no fsync'),
      ] as const
      await interleaved(1, ...laps)
      const pairs = await interleaved(options.quick ? 2 : 5, ...laps)
      await endFantail(unsynced, { ...options, profileDir: undefined })
      await endFantail(fantail, options)
      return [
        ...rowsOf(
          '',
          pairs.map(([synced]) => synced),
        ),
        ...rowsOf(
          ', without fsync',
          pairs.map(([, other]) => other),
        ),
      ]
    }),
}

/** For comparison only: without syncs, a crash of the machine would lose acknowledged messages. */
async function stopSyncing({ redis }: Fantail): Promise<void> {
  const client = new Redis(redis.url)
  await client.config('SET', 'appendfsync', 'no')
  client.disconnect()
}

async function publishFor(
  { receiver }: Stage,
  fantail: Fantail,
  options: ScenarioOptions,
  name: string,
): Promise<Run> {
  await ask(receiver, 'reset')
  const before = ticksNow()
  const sent = await fantail.load(PATHS, {
    connections: CONNECTIONS,
    bodyBytes: BODY_BYTES,
    durationMs: options.quick ? 1_000 : DURATION_MS,
    requestsMax: Number.MAX_SAFE_INTEGER,
  })
  const busyPercent = busyShare(before) * 100
  const arrived = await whenArrived(receiver, sent.accepted)
  if (arrived.distinct < sent.accepted)
    throw new Error(`${sent.accepted - arrived.distinct} deliveries were lost`)
  const publishesPerSecond = (sent.accepted * 1_000) / (sent.endedAt - sent.startedAt)
  options.report(
    `${name}: ${publishesPerSecond.toFixed(0)} publishes/s, p99 ${sent.p99Ms.toFixed(1)} ms, ${busyPercent.toFixed(0)} % busy`,
  )
  return { publishesPerSecond, p99Ms: sent.p99Ms, busyPercent }
}

function rowsOf(how: string, runs: Run[]): Row[] {
  return [
    rowOf(
      `publishes accepted, 64 publishers that wait${how}`,
      figureOf(runs.map((run) => run.publishesPerSecond)),
      { unit: '/s' },
    ),
    rowOf(`their p99${how}`, figureOf(runs.map(({ p99Ms }) => p99Ms)), { unit: 'ms' }),
    rowOf(`the machine in use meanwhile${how}`, figureOf(runs.map(({ busyPercent }) => busyPercent)), {
      unit: '%',
    }),
  ]
}
