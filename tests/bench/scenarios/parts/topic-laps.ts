/**
 * Topics of one Fantail that differ in their settings, for laps of equal work. The processes are the same for all of
 * them, so a small difference of CPU time shows. Two equal processes alone differ by up to 5 %.
 */
import type { Contestant } from '../../contest/contestant.ts'
import type { Fantail } from '../../contest/fantail.ts'
import { ask } from '../../processes/ipc.ts'
import { type Figure, figureOf, intervalOf, noteOfPairs } from '../../report/summary.ts'
import type { ScenarioOptions } from '../../scenario.ts'
import { cpuMicrosOf, interleaved, lap, type Stage } from '../../stage.ts'

export const FAN_OUT = 10
const DELIVERIES = 30_000

interface Compared {
  /** Names the two topics in the report. */
  name: string
  /** The topic with the setting, and the one without. */
  topics: readonly [on: Contestant, off: Contestant]
  rounds: number
  /** Deliveries of each lap (30,000). */
  deliveries?: number
  /** Microseconds per delivery that are measured alone, and belong to the setting. */
  addedMicros?: number
}

interface TopicCost {
  /** CPU per delivery with the setting : without. */
  ratio: Figure
  /** CPU per delivery without it, in µs. */
  plain: Figure
  note: string
}

/** Each round is a lap of equal work with the setting, and one without. */
export async function costOfTopic(
  stage: Stage,
  { name, topics: [on, off], rounds, deliveries = DELIVERIES, addedMicros = 0 }: Compared,
  { quick, report }: ScenarioOptions,
): Promise<TopicCost> {
  const work = { fanOut: FAN_OUT, deliveries: quick ? deliveries / 5 : deliveries }
  const microsOf = (contestant: Contestant) => async () => cpuMicrosOf(await lap(stage, contestant, work))
  const sides = [microsOf(on), microsOf(off)] as const
  await interleaved(2, ...sides)
  const pairs = await interleaved(quick ? 4 : rounds, ...sides)
  const ratios = pairs.map(([micros, plain]) => (micros + addedMicros) / plain)
  report(`${name}: ${ratios.map((ratio) => ratio.toFixed(3)).join(' ')}`)
  return {
    ratio: intervalOf(ratios),
    plain: figureOf(pairs.map(([, plain]) => plain)),
    note: noteOfPairs(pairs),
  }
}

/** Creates a topic with ten subscriptions. The result publishes to it. */
export async function onTopic(
  { receiverPort, publishers }: Stage,
  fantail: Fantail,
  { name, settings }: { name: string; settings: object },
): Promise<Contestant> {
  const { port } = fantail
  const endpoints = Array.from({ length: FAN_OUT }, (_, n) => `http://127.0.0.1:${receiverPort}/s${n}`)
  await fantail.createTopic(name, endpoints)
  const answer = await fetch(`http://127.0.0.1:${port}/v1/topics/${name}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  })
  if (!answer.ok) throw new Error(`PATCH ${name}: ${answer.status} ${await answer.text()}`)
  const paths = [`/v1/topics/${name}/messages`]
  return { ...fantail, load: (_, load) => ask(publishers, 'load', { port, paths, ...load }) }
}
