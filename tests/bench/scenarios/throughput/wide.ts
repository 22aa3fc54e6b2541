/** Compares the cost of a delivery of a topic with many subscriptions with that of a topic with ten. */
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { cpuMicrosOf, endFantail, fantailOn, lap, told, withStage } from '../../stage.ts'

const NARROW = 10
const WITHIN = 1.15

export const wide1000 = scenario(1_000)
export const wide100000 = scenario(100_000)

function scenario(fanOut: number): Scenario {
  return {
    name: `fanout-${fanOut}`,
    summary: `CPU per delivery of one topic with ${fanOut.toLocaleString('en-US')} subscriptions against fan-out ${NARROW}`,
    run: (options) => run(fanOut, options),
  }
}

function run(wide: number, options: ScenarioOptions): Promise<Row[]> {
  const { quick, report } = options
  const deliveries = Math.max(wide, quick ? 20_000 : 100_000)
  return withStage(async (stage) => {
    const fantail = await fantailOn(stage, options)
    const costs = async (fanOut: number) => {
      const measured = await lap(stage, fantail, { fanOut, deliveries })
      report(`fan-out ${fanOut}: ${told(measured)}`)
      return { micros: cpuMicrosOf(measured), perSecond: measured.deliveriesPerSecond }
    }
    const fanOuts = [NARROW, wide]
    for (const fanOut of fanOuts) await costs(fanOut)
    const rounds: { micros: number; perSecond: number }[][] = []
    for (let round = 0; round < (quick ? 2 : 5); round++) {
      const measured = []
      for (const fanOut of fanOuts) measured.push(await costs(fanOut))
      rounds.push(measured)
    }
    await endFantail(fantail, options)
    const of = (at: number, what: 'micros' | 'perSecond') =>
      figureOf(rounds.map((round) => round[at]?.[what] ?? Number.NaN))
    const ratio = figureOf(
      rounds.map(([narrow, other]) => (other?.micros ?? Number.NaN) / (narrow?.micros ?? 0)),
    )
    return [
      rowOf(`CPU per delivery against fan-out ${NARROW}`, ratio, { unit: '×', atMost: WITHIN }),
      rowOf('CPU per delivery, processes and Redis', of(1, 'micros'), { unit: 'µs' }),
      rowOf(`CPU per delivery at fan-out ${NARROW}`, of(0, 'micros'), { unit: 'µs' }),
      rowOf('deliveries', of(1, 'perSecond'), { unit: '/s' }),
    ]
  })
}
