/** Redis's cost of a delivery: with first attempts at two fan-outs, and with all deliveries through lanes. */
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { endFantail, fantailOn, lap, type Stage, told, withStage } from '../../stage.ts'

/** A throttle that is so high that no delivery waits. Its only effect is that all deliveries go through lanes. */
const LANES_ONLY = { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 1_000_000 } } }

interface Way {
  figure: string
  fanOut: number
  deliveries: number
  atMost: number
  subscription?: object
}

const WAYS: Way[] = [
  { figure: 'fan-out 10', fanOut: 10, deliveries: 100_000, atMost: 5 },
  { figure: 'fan-out 1', fanOut: 1, deliveries: 40_000, atMost: 25 },
  { figure: 'through lanes', fanOut: 10, deliveries: 40_000, atMost: 40, subscription: LANES_ONLY },
]

export const redisCost: Scenario = {
  name: 'redis-cost',
  summary: 'CPU of Redis per delivery, saturated: first attempts and lanes',
  run: (options) =>
    withStage(async (stage) => {
      const rows: Row[] = []
      for (const way of WAYS) rows.push(await costOf(stage, way, options))
      return rows
    }),
}

async function costOf(stage: Stage, way: Way, options: ScenarioOptions): Promise<Row> {
  const { fanOut, figure, atMost, subscription = {} } = way
  const deliveries = options.quick ? way.deliveries / 5 : way.deliveries
  const fantail = await fantailOn(stage, options, { subscription })
  const micros: number[] = []
  await lap(stage, fantail, { fanOut, deliveries })
  for (let round = 0; round < (options.quick ? 2 : 5); round++) {
    const measured = await lap(stage, fantail, { fanOut, deliveries })
    options.report(`${figure}: ${told(measured)}`)
    micros.push(measured.cpuMicros.redis ?? Number.NaN)
  }
  await endFantail(fantail, options)
  return rowOf(`CPU of Redis per delivery, ${figure}`, figureOf(micros), { unit: 'µs', atMost })
}
