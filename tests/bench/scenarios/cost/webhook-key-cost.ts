/**
 * The cost for a worker per delivery if the subscription has its own HMAC key (Standard Webhooks), compared with no
 * key.
 */
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario } from '../../scenario.ts'
import { withStage } from '../../stage.ts'
import { compareSets } from '../parts/equal-sets.ts'

/** A signature over 1.4 KB takes about 3 µs. The rest of the time is for the timestamp and the header lines. */
const MICROS_MAX = 8

export const webhookKeys: Scenario = {
  name: 'webhook-keys',
  summary: 'CPU of a worker per delivery with an HMAC key per subscription, over none',
  run: (options) =>
    withStage((stage) =>
      compareSets(stage, options, {
        sides: [{ name: 'with keys', settings: { webhookKeys: 'hmac-sha256' } }, { name: 'without' }],
        ofEach: 3,
        work: [
          { fanOut: 10, deliveries: 50_000 },
          { fanOut: 1, deliveries: 45_000 },
        ],
        microsOf: ({ cpuMicros }) => cpuMicros.worker ?? Number.NaN,
        rowsOf,
      }),
    ),
}

function rowsOf(fanOut: number, pairs: [signed: number, unsigned: number][]): Row[] {
  const added = figureOf(pairs.map(([signed, unsigned]) => signed - unsigned))
  const unsigned = figureOf(pairs.map(([, micros]) => micros))
  return [
    rowOf(`HMAC key, added to a worker at fan-out ${fanOut}`, added, { unit: 'µs', atMost: MICROS_MAX }),
    rowOf(`a worker without keys, fan-out ${fanOut}`, unsigned, { unit: 'µs' }),
  ]
}
