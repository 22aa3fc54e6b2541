/** Time from sending a publish to the arrival at the receiver, by the clock that all processes share. */
import type { ChildProcess } from 'node:child_process'
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
  lap,
  type Stage,
  told,
  withStage,
} from '../../stage.ts'

const FAN_OUT = 10
const IDLE_PER_SECOND = 50

/** In ms. */
export interface Percentiles {
  p50: number
  p99: number
  p999: number
}

export const latency: Scenario = {
  name: 'latency',
  summary: 'publish to arrival at fan-out 10, idle and at half of maximum load',
  run: (options) =>
    withStage(async (stage) => {
      const { quick, report } = options
      const fantail = await fantailOn(stage, options)
      const speeds: number[] = []
      for (let round = 0; round < 3; round++) {
        const measured = await lap(stage, fantail, { fanOut: FAN_OUT, deliveries: quick ? 20_000 : 100_000 })
        report(`maximum: ${told(measured)}`)
        if (round > 0) speeds.push(measured.deliveriesPerSecond)
      }
      const half = Math.round(figureOf(speeds).median / 2 / FAN_OUT)
      const idle: Percentiles[] = []
      const loaded: Percentiles[] = []
      for (let round = 0; round < (quick ? 1 : 3); round++) {
        const seconds = quick ? 2 : 8
        idle.push(await percentiles(stage, fantail, { perSecond: IDLE_PER_SECOND, seconds, options }))
        loaded.push(await percentiles(stage, fantail, { perSecond: half, seconds: quick ? 2 : 5, options }))
      }
      await endFantail(fantail, options)
      return rowsOf(idle, loaded, half)
    }),
}

interface Paced {
  perSecond: number
  seconds: number
  options: ScenarioOptions
}

async function percentiles(stage: Stage, { port }: Fantail, paced: Paced): Promise<Percentiles> {
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
  return found
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

function rowsOf(idle: Percentiles[], loaded: Percentiles[], half: number): Row[] {
  const of = (rounds: Percentiles[], name: keyof Percentiles) => figureOf(rounds.map((round) => round[name]))
  const note = `${half} publishes/s`
  const quiet = `${IDLE_PER_SECOND} publishes/s`
  return [
    rowOf('publish to arrival, idle, p50', of(idle, 'p50'), { unit: 'ms', atMost: 5, note: quiet }),
    rowOf('publish to arrival, idle, p99', of(idle, 'p99'), { unit: 'ms', atMost: 15, note: quiet }),
    rowOf('publish to arrival, half load, p50', of(loaded, 'p50'), { unit: 'ms', note }),
    rowOf('publish to arrival, half load, p99', of(loaded, 'p99'), { unit: 'ms', atMost: 50, note }),
  ]
}
