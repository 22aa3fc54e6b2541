/** A worker's cost per delivery of a subscription's own HMAC key (Standard Webhooks), compared with no key. */
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario } from '../../scenario.ts'
import { endFantail, fantailOn, interleaved, told, turn, withStage } from '../../stage.ts'

/** A signature of 1.4 KB is about 3 us; the rest is for timestamp, header lines and their bytes. */
const MICROS_MAX = 8
const WORK = [
  { fanOut: 10, deliveries: 50_000 },
  { fanOut: 1, deliveries: 15_000 },
]

export const webhookKeys: Scenario = {
  name: 'webhook-keys',
  summary: 'CPU of a worker per delivery with an HMAC key per subscription, over none',
  run: (options) =>
    withStage(async (stage) => {
      const signing = await fantailOn(stage, options, { webhookKeys: 'hmac-sha256' })
      const plain = await fantailOn(stage, options)
      const rows: Row[] = []
      for (const { fanOut, deliveries } of WORK) {
        const work = { fanOut, deliveries: options.quick ? deliveries / 5 : deliveries }
        const worker = (name: string, contestant: typeof plain) => async () => {
          const measured = await turn(stage, contestant, work)
          options.tell(`fan-out ${fanOut}, ${name}: ${told(measured)}`)
          return measured.cpuMicros.worker ?? Number.NaN
        }
        const pair = [worker('with keys', signing), worker('without', plain)] as const
        await interleaved(1, ...pair)
        const pairs = await interleaved(options.quick ? 2 : 5, ...pair)
        const added = figureOf(pairs.map(([signed, unsigned]) => signed - unsigned))
        const unsigned = figureOf(pairs.map(([, micros]) => micros))
        rows.push(
          rowOf(`HMAC key, added to a worker at fan-out ${fanOut}`, added, {
            unit: 'µs',
            atMost: MICROS_MAX,
          }),
          rowOf(`a worker without keys, fan-out ${fanOut}`, unsigned, { unit: 'µs' }),
        )
      }
      await endFantail(plain, { ...options, profileDir: undefined })
      await endFantail(signing, options)
      return rows
    }),
}
