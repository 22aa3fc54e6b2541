/**
 * CPU of the present tree against the commit that `--against` names, or else the last one. Each tree runs a Fantail of
 * its own, and the two take turns with laps of equal work. Equal processes differ by up to 5 %, so that every work is
 * done by several pairs of them.
 */
import { commitOf, withCheckout } from '../../processes/checkout.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf, intervalOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import {
  cpuMicrosOf,
  endFantail,
  fantailOn,
  interleaved,
  lap,
  type Settings,
  type Stage,
  told,
  withStage,
} from '../../stage.ts'

const PROCESSES = 3
const PAIRS = 3
const WITHIN = 0.99

interface Work {
  name: string
  fanOut: number
  deliveries: number
  settings?: Settings
}

/** A rate that no lap reaches: each delivery then takes the way through its lane. */
const THROUGH_LANES = {
  subscription: { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 100_000 } } },
}

const WORKS: readonly Work[] = [
  { name: 'fan-out 1', fanOut: 1, deliveries: 20_000 },
  { name: 'fan-out 10', fanOut: 10, deliveries: 60_000 },
  { name: 'fan-out 1,000', fanOut: 1_000, deliveries: 150_000 },
  { name: 'fan-out 10 through lanes', fanOut: 10, deliveries: 40_000, settings: THROUGH_LANES },
]

export const earlier: Scenario = {
  name: 'earlier',
  summary: 'CPU per delivery of an earlier commit (--against REV), and of this tree',
  run: ({ against = commitOf('HEAD'), ...options }) =>
    withCheckout(against, (tree) =>
      withStage(async (stage) => {
        const rows: Row[] = []
        for (const work of WORKS) rows.push(...(await compare(stage, work, { ...options, tree })))
        return rows
      }),
    ),
}

type Options = ScenarioOptions & { tree: string }

async function compare(stage: Stage, work: Work, options: Options): Promise<Row[]> {
  const pairs: [number, number][] = []
  for (let run = 0; run < (options.quick ? 1 : PROCESSES); run++) {
    const trees = [await fantailOn(stage, options, { ...work.settings, tree: options.tree })]
    trees.push(await fantailOn(stage, options, work.settings))
    const [before, present] = trees.map((fantail, n) => async () => {
      const measured = await lap(stage, fantail, scaled(work, options))
      options.report(`${work.name}, ${n === 0 ? 'earlier' : 'present'}: ${told(measured)}`)
      return cpuMicrosOf(measured)
    })
    if (!before || !present) throw new Error('both are needed')
    await interleaved(1, before, present)
    pairs.push(...(await interleaved(PAIRS, before, present)))
    for (const fantail of trees) await endFantail(fantail, options)
  }
  const ratios = intervalOf(pairs.map(([before, present]) => before / present))
  const note = `earlier ${medianOf(pairs, 0)}, present ${medianOf(pairs, 1)} µs, ${pairs.length} pairs`
  const row = rowOf(`${work.name}, earlier : present`, ratios, { unit: '×', note })
  return [
    row,
    { figure: `${work.name}, upper end of the interval`, value: ratios.max, unit: '×', atLeast: WITHIN },
  ]
}

const scaled = ({ fanOut, deliveries }: Work, { quick }: ScenarioOptions) => ({
  fanOut,
  deliveries: quick ? deliveries / 10 : deliveries,
})

function medianOf(pairs: [number, number][], side: 0 | 1): string {
  return figureOf(pairs.map((pair) => pair[side])).median.toFixed(1)
}
