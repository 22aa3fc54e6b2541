/** Deliveries of sealed messages, against the same processes and messages that are not sealed. */
import { rowOf } from '../../report/rows.ts'
import { figureOf, intervalOf } from '../../report/summary.ts'
import type { Scenario } from '../../scenario.ts'
import { cpuMicrosOf, endFantail, fantailOn, interleaved, lap, withStage } from '../../stage.ts'
import { FAN_OUT, onTopic } from '../parts/topic-laps.ts'

const WITHIN = 1.08
const ROUNDS = 16
const DELIVERIES = 30_000

export const sealing: Scenario = {
  name: 'sealing',
  summary: 'CPU per delivery at fan-out 10 with sealed messages, against messages that are not sealed',
  run: (options) =>
    withStage(async (stage) => {
      const fantail = await fantailOn(stage, options)
      const on = await onTopic(stage, fantail, { name: 'sealed', settings: { sealMessages: true } })
      const off = await onTopic(stage, fantail, { name: 'open', settings: { sealMessages: false } })
      const work = { fanOut: FAN_OUT, deliveries: options.quick ? DELIVERIES / 5 : DELIVERIES }
      const microsOf = (contestant: typeof on) => async () => cpuMicrosOf(await lap(stage, contestant, work))
      const sides = [microsOf(on), microsOf(off)] as const
      await interleaved(2, ...sides)
      const pairs = await interleaved(options.quick ? 4 : ROUNDS, ...sides)
      await endFantail(fantail, options)
      const ratios = pairs.map(([sealed, open]) => sealed / open)
      options.report(`sealed : open: ${ratios.map((ratio) => ratio.toFixed(3)).join(' ')}`)
      const note = `in brackets: 95 % interval of the median, ${pairs.length} pairs`
      const open = figureOf(pairs.map(([, micros]) => micros))
      return [
        rowOf('sealed : open, CPU', intervalOf(ratios), { unit: '×', atMost: WITHIN, note }),
        rowOf('open, CPU per delivery', open, { unit: 'µs' }),
      ]
    }),
}
