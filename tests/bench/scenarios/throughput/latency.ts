/** Time from sending a publish to the arrival at the receiver, by the clock that all processes share. */
import type { ChildProcess } from 'node:child_process'
import { Redis } from 'ioredis'
import type { Fantail } from '../../contest/fantail.ts'
import { whenArrived } from '../../contest/measure.ts'
import { ask, type PaceOptions, type PaceResult } from '../../processes/ipc.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import {
  BODY_BYTES,
  CONNECTIONS,
  endFantail,
  fantailOn,
  interleaved,
  lap,
  type Stage,
  told,
  withStage,
} from '../../stage.ts'
import { createTopic, messagesFor, park, RETRY_TOMORROW } from '../parts/backlog.ts'

const FAN_OUT = 10
const WAITING_LANES = 10_000
const ROUNDS = 3
const WARM_UP_LAPS = 2

interface PacedLoad {
  name: string
  /** In publishes a second, or the share of the highest rate just before. */
  rate: { perSecond: number } | { share: number }
  seconds: number
  /** Bars, in ms. */
  p50?: number
  p99?: number
}

/** A slow rate needs more time for as many publishes. */
const LOADS: readonly PacedLoad[] = [
  { name: '50 publishes/s', rate: { perSecond: 50 }, seconds: 20, p50: 5, p99: 15 },
  { name: 'half of the highest rate', rate: { share: 0.5 }, seconds: 8, p99: 20 },
  { name: '80 % of the highest rate', rate: { share: 0.8 }, seconds: 8 },
]

/** In ms. */
export interface Percentiles {
  p50: number
  p99: number
  p999: number
}

export const latency: Scenario = {
  name: 'latency',
  summary: 'publish to arrival at fan-out 10: 50/s, half and 80 % of the highest rate, 10,000 waiting lanes',
  run: (options) =>
    withStage(async (stage) => {
      const alone = await fantailOn(stage, options)
      const beside = await fantailOn(stage, options)
      await addWaitingLanes(beside)
      const fastest = (fantail: Fantail) => () => highestRate(stage, fantail, options)
      await interleaved(WARM_UP_LAPS, fastest(alone), fastest(beside))
      const rows: Row[] = []
      for (const load of LOADS) {
        const { rate } = load
        const lapOf = (fantail: Fantail) => async () => {
          const perSecond = Math.round(
            'share' in rate ? rate.share * (await fastest(fantail)()) : rate.perSecond,
          )
          return percentiles(stage, fantail, {
            perSecond,
            seconds: options.quick ? 2 : load.seconds,
            options,
          })
        }
        const pairs = await interleaved(options.quick ? 1 : ROUNDS, lapOf(alone), lapOf(beside))
        rows.push(...rowsOf(load, pairs))
      }
      await endFantail(alone, options)
      await endFantail(beside, options)
      return rows
    }),
}

/** Each lane has one delivery, which waits for a retry. */
async function addWaitingLanes({ redis: { url } }: Fantail): Promise<void> {
  const redis = new Redis(url)
  const endpoint = (lane: number) => `http://127.0.0.1:9/s${lane}`
  const { arn, lanes } = await createTopic(redis, { name: 'waiting', subscriptions: WAITING_LANES, endpoint })
  await park(redis, lanes, messagesFor(arn, 1, BODY_BYTES), RETRY_TOMORROW)
  redis.disconnect()
}

/** In publishes a second. It is measured before each lap, because the speed of a shared machine changes in minutes. */
async function highestRate(stage: Stage, fantail: Fantail, { quick, report }: ScenarioOptions) {
  const measured = await lap(stage, fantail, { fanOut: FAN_OUT, deliveries: quick ? 20_000 : 100_000 })
  report(`maximum: ${told(measured)}`)
  return measured.deliveriesPerSecond / FAN_OUT
}

interface Paced {
  perSecond: number
  seconds: number
  options: ScenarioOptions
}

type PacedLap = Percentiles & Pick<Paced, 'perSecond'>

async function percentiles(stage: Stage, { port }: Fantail, paced: Paced): Promise<PacedLap> {
  const { perSecond, seconds, options } = paced
  const { receiver, publishers } = stage
  await ask(receiver, 'reset')
  await ask(receiver, 'recordTimes')
  const load: PaceOptions = {
    port,
    paths: [`/v1/topics/fanout-${FAN_OUT}/messages`],
    connections: CONNECTIONS,
    requestsPerSecond: perSecond,
    durationMs: seconds * 1_000,
    bodyBytes: BODY_BYTES,
  }
  const { sentAt, refused } = await ask<PaceResult>(publishers, 'pace', load)
  if (refused > 0) throw new Error(`${refused} publishes were refused`)
  await whenArrived(receiver, sentAt.length * FAN_OUT)
  const found = await delaysSince(receiver, sentAt)
  options.report(
    `${perSecond} publishes/s: ${sentAt.length * FAN_OUT} deliveries, p50 ${found.p50.toFixed(2)} ms, p99 ${found.p99.toFixed(2)} ms, p99.9 ${found.p999.toFixed(2)} ms`,
  )
  return { ...found, perSecond }
}

/** Delays of all arrivals. `sentAt`: by the number in the text. */
export async function delaysSince(receiver: ChildProcess, sentAt: number[]): Promise<Percentiles> {
  const times = await ask<number[]>(receiver, 'times')
  const took: number[] = []
  for (let i = 0; i < times.length; i += 2) took.push((times[i + 1] ?? 0) - (sentAt[times[i] ?? -1] ?? 0))
  const sorted = Float64Array.from(took).sort()
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}

function rowsOf(load: PacedLoad, pairs: [PacedLap, PacedLap][]): Row[] {
  const sides = [load.name, `${load.name}, beside ${WAITING_LANES.toLocaleString('en-US')} waiting lanes`]
  return sides.flatMap((name, side) => {
    const of = (percentile: keyof Percentiles) =>
      figureOf(pairs.map((pair) => pair[side]?.[percentile] ?? Number.NaN))
    const rates = pairs.map((pair) => pair[side]?.perSecond ?? Number.NaN)
    const [least, most] = [Math.min(...rates), Math.max(...rates)]
    const note = `${least === most ? least : `${least} to ${most}`} publishes/s`
    const bar = (atMost?: number) => (atMost === undefined ? {} : { atMost })
    return [
      rowOf(`${name}, p50`, of('p50'), { unit: 'ms', ...bar(load.p50), note }),
      rowOf(`${name}, p99`, of('p99'), { unit: 'ms', ...bar(load.p99), note }),
      rowOf(`${name}, p99.9`, of('p999'), { unit: 'ms', note }),
    ]
  })
}
