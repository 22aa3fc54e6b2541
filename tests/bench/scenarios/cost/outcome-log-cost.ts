/** The cost of the outcome log: CPU per delivery, processes and Redis, with and without it. */
import type { Fantail } from '../../contest/fantail.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { cpuMicrosOf, endFantail, fantailOn, interleaved, told, turn, withStage } from '../../stage.ts'

const WITHIN = 1.05
const WORK = [
  { fanOut: 10, deliveries: 50_000 },
  { fanOut: 1, deliveries: 15_000 },
]

/** So many of each, taken together: one process of a tree differs from the next by more than the log costs. */
const OF_EACH = 4

export const outcomeLog: Scenario = {
  name: 'outcome-log',
  summary: 'CPU per delivery with the outcome log against without',
  run: (options) =>
    withStage(async (stage) => {
      const on: Fantail[] = []
      const off: Fantail[] = []
      for (let i = 0; i < OF_EACH; i++) {
        on.push(await fantailOn(stage, options))
        off.push(await fantailOn(stage, options, { env: { FANTAIL_LOG_MESSAGES: '0' } }))
      }
      const rows: Row[] = []
      for (const work of WORK) {
        const micros = (fantails: Fantail[], name: string) => async () => {
          let sum = 0
          for (const fantail of fantails) {
            const measured = await turn(stage, fantail, scaled(work, options))
            options.tell(`fan-out ${work.fanOut}, ${name}: ${told(measured)}`)
            sum += cpuMicrosOf(measured)
          }
          return sum / fantails.length
        }
        const pairs = [micros(on, 'on'), micros(off, 'off')] as const
        await interleaved(1, ...pairs)
        const measured = await interleaved(options.quick ? 2 : 5, ...pairs)
        rows.push(...rowsOf(work.fanOut, measured))
      }
      for (const fantail of [...off, ...on.slice(1)])
        await endFantail(fantail, { ...options, profileDir: undefined })
      if (on[0]) await endFantail(on[0], options)
      return rows
    }),
}

function scaled({ fanOut, deliveries }: (typeof WORK)[number], { quick }: ScenarioOptions) {
  return { fanOut, deliveries: quick ? deliveries / 5 : deliveries }
}

function rowsOf(fanOut: number, pairs: [on: number, off: number][]): Row[] {
  const ratio = figureOf(pairs.map(([on, off]) => on / off))
  return [
    rowOf(`outcome log on : off, CPU at fan-out ${fanOut}`, ratio, { unit: '×', atMost: WITHIN }),
    rowOf(`CPU per delivery with it, fan-out ${fanOut}`, figureOf(pairs.map(([on]) => on)), { unit: 'µs' }),
  ]
}
