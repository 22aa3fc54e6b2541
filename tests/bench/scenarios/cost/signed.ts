/** Deliveries with SNS's signatures, compared with BullMQ by hand, which does not sign. */
import { START } from '../../contest/contestants.ts'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Scenario } from '../../scenario.ts'
import { cpuMicrosOf, endFantail, fantailOn, interleaved, lap, told, withStage } from '../../stage.ts'

const FAN_OUT = 10

export const signed: Scenario = {
  name: 'signed',
  summary: 'deliveries/s at fan-out 10 with signatures, against BullMQ by hand without',
  run: (options) =>
    withStage(async (stage) => {
      const fantail = await fantailOn(stage, options, { topic: { signing: 'sns' } })
      const bullmq = await START.bullmq(stage)
      const laps = [
        { name: 'fantail', contestant: fantail, deliveries: options.quick ? 10_000 : 60_000 },
        { name: 'bullmq', contestant: bullmq, deliveries: options.quick ? 5_000 : 20_000 },
      ] as const
      const [ours, theirs] = laps.map(({ name, contestant, deliveries }) => async () => {
        const measured = await lap(stage, contestant, { fanOut: FAN_OUT, deliveries })
        options.report(`${name}: ${told(measured)}`)
        return measured
      })
      if (!ours || !theirs) throw new Error('both are needed')
      await interleaved(1, ours, theirs)
      const pairs = await interleaved(options.quick ? 2 : 5, ours, theirs)
      await bullmq.stop()
      await endFantail(fantail, options)
      const perSecond = pairs.map(([signing]) => signing.deliveriesPerSecond)
      const ratios = pairs.map(([signing, plain]) => signing.deliveriesPerSecond / plain.deliveriesPerSecond)
      return [
        rowOf('Fantail signed : BullMQ by hand', figureOf(ratios), { unit: '×', atLeast: 3.5 }),
        rowOf('deliveries, signed', figureOf(perSecond), { unit: '/s' }),
        rowOf(
          'CPU per delivery, processes and Redis',
          figureOf(pairs.map(([signing]) => cpuMicrosOf(signing))),
          {
            unit: 'µs',
          },
        ),
      ]
    }),
}
