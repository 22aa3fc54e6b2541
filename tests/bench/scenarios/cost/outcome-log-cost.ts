/** The cost of the outcome log: CPU per delivery, processes and Redis, with and without it. */
import { ask } from '../../processes/ipc.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario } from '../../scenario.ts'
import { cpuMicrosOf, withStage } from '../../stage.ts'
import { compareSets } from '../parts/equal-sets.ts'

const WITHIN = 1.05
const RETRIED_WITHIN = 1.08
const NO_LOG = { FANTAIL_LOG_MESSAGES: '0' }

export const outcomeLog: Scenario = {
  name: 'outcome-log',
  summary: 'CPU per delivery with the outcome log against without',
  run: (options) =>
    withStage((stage) =>
      compareSets(stage, options, {
        sides: [{ name: 'on' }, { name: 'off', settings: { env: NO_LOG } }],
        ofEach: 4,
        work: [
          { fanOut: 10, deliveries: 50_000 },
          { fanOut: 1, deliveries: 15_000 },
        ],
        microsOf: cpuMicrosOf,
        rowsOf: rowsOf('CPU', WITHIN),
      }),
    ),
}

const IMMEDIATE = { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 3, numNoDelayRetries: 3 }
const RETRIED = { subscription: { deliveryPolicy: { healthyRetryPolicy: IMMEDIATE } } }

/** The log has two entries for each delivery. The second entry says why and when the delivery was retried. */
export const outcomeLogRetries: Scenario = {
  name: 'outcome-log-retries',
  summary: 'the same where each delivery is retried once, without delay',
  run: (options) =>
    withStage(async (stage) => {
      await ask(stage.receiver, 'refuseFirst')
      return compareSets(stage, options, {
        sides: [
          { name: 'on, retried', settings: RETRIED },
          { name: 'off, retried', settings: { ...RETRIED, env: NO_LOG } },
        ],
        ofEach: 4,
        work: [{ fanOut: 10, deliveries: 10_000 }],
        microsOf: cpuMicrosOf,
        rowsOf: rowsOf('CPU of retried deliveries', RETRIED_WITHIN),
      })
    }),
}

function rowsOf(cpu: string, atMost: number) {
  return (fanOut: number, pairs: [on: number, off: number][]): Row[] => {
    const ratio = figureOf(pairs.map(([on, off]) => on / off))
    const withLog = figureOf(pairs.map(([on]) => on))
    return [
      rowOf(`outcome log on : off, ${cpu} at fan-out ${fanOut}`, ratio, { unit: '×', atMost }),
      rowOf(`${cpu} per delivery with it, fan-out ${fanOut}`, withLog, { unit: 'µs' }),
    ]
  }
}
