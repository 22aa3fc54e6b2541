/**
 * Measures the cost of a setting with several Fantails that have it and several that do not, in laps of equal work. Two
 * equal processes differ by up to 5 %, so a single pair would only measure that difference.
 */
import type { Fantail } from '../../contest/fantail.ts'
import type { Measurement } from '../../contest/measure.ts'
import type { Row, ScenarioOptions } from '../../scenario.ts'
import { endFantail, fantailOn, interleaved, lap, type Settings, type Stage, told } from '../../stage.ts'

interface Side {
  name: string
  settings?: Settings
}

interface SetsOptions {
  /** Only the first side is profiled. */
  sides: readonly [Side, Side]
  /** How many Fantails each side has. */
  ofEach: number
  work: readonly { fanOut: number; deliveries: number }[]
  microsOf(measured: Measurement): number
  /** `pairs`: the mean CPU of each side in µs per delivery, for each round. */
  rowsOf(fanOut: number, pairs: [number, number][]): Row[]
}

export async function compareSets(
  stage: Stage,
  options: ScenarioOptions,
  { sides: [a, b], ofEach, work, microsOf, rowsOf }: SetsOptions,
): Promise<Row[]> {
  const ofA: Fantail[] = []
  const ofB: Fantail[] = []
  for (let i = 0; i < ofEach; i++) {
    ofA.push(await fantailOn(stage, options, a.settings))
    ofB.push(await fantailOn(stage, options, b.settings))
  }
  const rows: Row[] = []
  for (const { fanOut, deliveries } of work) {
    const scaled = { fanOut, deliveries: options.quick ? deliveries / 5 : deliveries }
    const meanOf = (fantails: Fantail[], name: string) => async () => {
      let sum = 0
      for (const fantail of fantails) {
        const measured = await lap(stage, fantail, scaled)
        options.report(`fan-out ${fanOut}, ${name}: ${told(measured)}`)
        sum += microsOf(measured)
      }
      return sum / fantails.length
    }
    const pair = [meanOf(ofA, a.name), meanOf(ofB, b.name)] as const
    await interleaved(1, ...pair)
    rows.push(...rowsOf(fanOut, await interleaved(options.quick ? 2 : 5, ...pair)))
  }
  const [profiled, ...others] = ofA
  for (const fantail of [...ofB, ...others]) await endFantail(fantail, { ...options, profileDir: undefined })
  if (profiled) await endFantail(profiled, options)
  return rows
}
