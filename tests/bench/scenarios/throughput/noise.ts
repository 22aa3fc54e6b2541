/** The machine's own noise with equal work: a fixed loop, and the same Fantail twice. */
import type { Fantail } from '../../contest/fantail.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario } from '../../scenario.ts'
import { cpuMicrosOf, endFantail, fantailOn, interleaved, lap, told, withStage } from '../../stage.ts'

const LOOPS = 40
const STEPS = 50_000_000

export const noise: Scenario = {
  name: 'noise',
  summary: 'the machine: a fixed CPU loop, and the same Fantail against itself',
  run: (options) =>
    withStage(async (stage) => {
      const loops = loopRow()
      const [a, b] = [await fantailOn(stage, options), await fantailOn(stage, options)]
      const measured = (fantail: Fantail) => async () => {
        const result = await lap(stage, fantail, {
          fanOut: 10,
          deliveries: options.quick ? 20_000 : 100_000,
        })
        options.report(told(result))
        return result
      }
      const sides = [measured(a), measured(b)] as const
      await interleaved(1, ...sides)
      const pairs = await interleaved(options.quick ? 2 : 5, ...sides)
      await Promise.all([a, b].map((fantail) => endFantail(fantail, { ...options, profileDir: undefined })))
      const cpu = pairs.map(([one, other]) => cpuMicrosOf(one) / cpuMicrosOf(other))
      const speed = pairs.map(([one, other]) => one.deliveriesPerSecond / other.deliveriesPerSecond)
      return [
        loops,
        rowOf('Fantail : itself, CPU per delivery at fan-out 10', figureOf(cpu), { unit: '×' }),
        rowOf('Fantail : itself, deliveries/s at fan-out 10', figureOf(speed), { unit: '×' }),
      ]
    }),
}

/** Wall time of a loop that touches no memory. */
function loopRow(): Row {
  spin()
  const times = Array.from({ length: LOOPS }, () => {
    const startedAt = performance.now()
    spin()
    return performance.now() - startedAt
  })
  return rowOf('a fixed CPU loop', figureOf(times), { unit: 'ms', note: `${LOOPS} times` })
}

function spin(): number {
  let x = 1
  for (let i = 0; i < STEPS; i++) x = (Math.imul(x, 1_103_515_245) + 12_345) | 0
  return x
}
