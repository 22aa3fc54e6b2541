/** Twenty listeners to live events under full load, against the same processes without listeners. */
import type { ChildProcess } from 'node:child_process'
import type { Contestant } from '../../contest/contestant.ts'
import type { Measurement } from '../../contest/measure.ts'
import { end, startOwn } from '../../processes/children.ts'
import { ask } from '../../processes/ipc.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf, intervalOf, noteOfPairs } from '../../report/summary.ts'
import type { Row, Scenario } from '../../scenario.ts'
import {
  cpuMicrosOf,
  endFantail,
  fantailOn,
  interleaved,
  lap,
  type Stage,
  told,
  withStage,
} from '../../stage.ts'
import type { TailsOptions, TailsResult } from '../parts/tails-process.ts'
import { FAN_OUT, onTopic } from '../parts/topic-laps.ts'

const TAILS = 20
const MAX = 200
const ROUNDS = 16
const DELIVERIES = 80_000
const CPU_WITHIN = 1.05
const THROUGHPUT_AT_LEAST = 0.98
/** The API closes their streams, and tells workers that nobody listens. */
const LEFT_MS = 300

export const liveTails: Scenario = {
  name: 'live-tails',
  summary: `throughput and CPU per delivery at full load with ${TAILS} listeners to live events, against none`,
  run: (options) =>
    withStage(async (stage) => {
      const fantail = await fantailOn(stage, options)
      const tails = await startOwn('../scenarios/parts/tails-process.ts')
      const topic = await onTopic(stage, fantail, { name: 'tailed', settings: { recordAttempts: 'none' } })
      const deliveries = options.quick ? DELIVERIES / 5 : DELIVERIES
      const asked = { port: fantail.port, count: TAILS, max: MAX }
      const without = async (): Promise<Tried> => ({ measured: await oneLap(stage, topic, deliveries) })
      const withTails = () => tailed(stage, topic, { tails, asked, deliveries })
      await interleaved(1, withTails, without)
      const pairs = await interleaved(options.quick ? 4 : ROUNDS, withTails, without)
      for (const [a, b] of pairs) options.report(`with: ${told(a.measured)}; without: ${told(b.measured)}`)
      await end(tails)
      await endFantail(fantail, options)
      return [
        ...ratioRows(pairs.map(([a, b]) => [a.measured, b.measured])),
        eventsRow(pairs.flatMap(([{ seen }]) => seen ?? [])),
      ]
    }),
}

function oneLap(stage: Stage, topic: Contestant, deliveries: number): Promise<Measurement> {
  return lap(stage, topic, { fanOut: FAN_OUT, deliveries })
}

interface Tried {
  measured: Measurement
  seen?: TailsResult
}

interface Tailed {
  tails: ChildProcess
  asked: TailsOptions
  deliveries: number
}

async function tailed(stage: Stage, topic: Contestant, { tails, asked, deliveries }: Tailed): Promise<Tried> {
  await ask(tails, 'open', asked)
  const measured = await oneLap(stage, topic, deliveries)
  const seen = await ask<TailsResult>(tails, 'close')
  await new Promise((resolve) => setTimeout(resolve, LEFT_MS))
  return { measured, seen }
}

function ratioRows(pairs: [tailed: Measurement, plain: Measurement][]): Row[] {
  const note = noteOfPairs(pairs)
  const ratio = (of: (measured: Measurement) => number) => intervalOf(pairs.map(([a, b]) => of(a) / of(b)))
  const added = (name: string) =>
    figureOf(pairs.map(([a, b]) => (a.cpuMicros[name] ?? Number.NaN) - (b.cpuMicros[name] ?? Number.NaN)))
  return [
    rowOf(
      `${TAILS} listeners : none, deliveries/s`,
      ratio(({ deliveriesPerSecond }) => deliveriesPerSecond),
      {
        unit: '×',
        atLeast: THROUGHPUT_AT_LEAST,
        note,
      },
    ),
    rowOf(`${TAILS} listeners : none, CPU of API, worker and Redis`, ratio(cpuMicrosOf), {
      unit: '×',
      atMost: CPU_WITHIN,
      note,
    }),
    ...['api', 'worker', 'redis'].map((name) =>
      rowOf(`CPU per delivery that ${TAILS} listeners add to ${name}`, added(name), { unit: 'µs' }),
    ),
  ]
}

/** A second begins with its first event, so a listener may see one second more than the time lasts. */
function eventsRow(seen: TailsResult[]): Row {
  const perSecond = seen.flatMap(({ events, seconds }) =>
    events.map((count) => count / (Math.floor(seconds) + 1)),
  )
  const note = `${TAILS} listeners, ${MAX} requested`
  return rowOf('events that a listener gets a second', figureOf(perSecond), {
    unit: '/s',
    atMost: MAX,
    atLeast: 1,
    note,
  })
}
