/** Deliveries of sealed messages, against the same processes and messages that are not sealed. */
import { rowOf } from '../../report/rows.ts'
import type { Scenario } from '../../scenario.ts'
import { endFantail, fantailOn, withStage } from '../../stage.ts'
import { costOfTopic, onTopic } from '../parts/topic-laps.ts'

const WITHIN = 1.08
/** Short laps, because the speed of a shared machine changes within seconds. */
const LAPS = { rounds: 96, deliveries: 15_000 }

export const sealing: Scenario = {
  name: 'sealing',
  summary: 'CPU per delivery at fan-out 10 with sealed messages, against messages that are not sealed',
  run: (options) =>
    withStage(async (stage) => {
      const fantail = await fantailOn(stage, options)
      const on = await onTopic(stage, fantail, { name: 'sealed', settings: { sealMessages: true } })
      const off = await onTopic(stage, fantail, { name: 'open', settings: { sealMessages: false } })
      const compared = { name: 'sealed : open', topics: [on, off], ...LAPS } as const
      const { ratio, plain, note } = await costOfTopic(stage, compared, options)
      await endFantail(fantail, options)
      return [
        rowOf('sealed : open, CPU', ratio, { unit: '×', atMost: WITHIN, note }),
        rowOf('open, CPU per delivery', plain, { unit: 'µs' }),
      ]
    }),
}
