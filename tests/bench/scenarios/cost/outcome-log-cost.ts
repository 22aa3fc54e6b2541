/** The cost of the outcome log: CPU per delivery, processes and Redis, with and without it. */
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario } from '../../scenario.ts'
import { cpuMicrosOf, withStage } from '../../stage.ts'
import { compareSets } from '../parts/equal-sets.ts'

const WITHIN = 1.05

export const outcomeLog: Scenario = {
  name: 'outcome-log',
  summary: 'CPU per delivery with the outcome log against without',
  run: (options) =>
    withStage((stage) =>
      compareSets(stage, options, {
        sides: [{ name: 'on' }, { name: 'off', settings: { env: { FANTAIL_LOG_MESSAGES: '0' } } }],
        ofEach: 4,
        work: [
          { fanOut: 10, deliveries: 50_000 },
          { fanOut: 1, deliveries: 15_000 },
        ],
        microsOf: cpuMicrosOf,
        rowsOf,
      }),
    ),
}

function rowsOf(fanOut: number, pairs: [on: number, off: number][]): Row[] {
  const ratio = figureOf(pairs.map(([on, off]) => on / off))
  return [
    rowOf(`outcome log on : off, CPU at fan-out ${fanOut}`, ratio, { unit: '×', atMost: WITHIN }),
    rowOf(`CPU per delivery with it, fan-out ${fanOut}`, figureOf(pairs.map(([on]) => on)), { unit: 'µs' }),
  ]
}
