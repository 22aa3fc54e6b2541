/** The cost for the API of a publish that is checked against a schema, compared with one that is not. */
import { rowOf } from '../../report/rows.ts'
import { figureOf, intervalOf, noteOfPairs } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { endFantail, fantailOn, interleaved, type Stage, withStage } from '../../stage.ts'
import { type Accepted, accepted, empty } from './publish-rate.ts'

const ROUNDS = 16
const EVENT_TYPE = 'order.paid'
const SCHEMA = {
  type: 'object',
  properties: {
    id: { type: 'string', minLength: 1 },
    total: { type: 'number', minimum: 0 },
    currency: { enum: ['EUR', 'USD'] },
    email: { type: 'string', pattern: '^[^@]+@[^@]+$' },
    lines: {
      type: 'array',
      items: {
        type: 'object',
        properties: { sku: { type: 'string' }, count: { type: 'integer' } },
        required: ['sku'],
      },
    },
  },
  required: ['id', 'total', 'lines'],
}

export const checkedPublish: Scenario = {
  name: 'checked-publish',
  summary: 'publishes that are checked against a schema, over the same ones unchecked',
  run: (options) => withStage((stage) => measured(stage, options)),
}

async function measured(stage: Stage, options: ScenarioOptions): Promise<Row[]> {
  const fantail = await fantailOn(stage, options, { services: ['publish-api'] })
  for (const [topic, eventTypeCheck] of [
    ['checked', 'refuse'],
    ['unchecked', 'off'],
  ]) {
    const url = `http://127.0.0.1:${fantail.port}/v1/topics/${topic}`
    await put(url, { eventTypeCheck })
    await put(`${url}/event-types/${EVENT_TYPE}`, { schema: SCHEMA })
  }
  const to = { port: fantail.port, pid: fantail.processes.api ?? 0 }
  const lapOn = (topic: string) => async () => {
    const durationMs = options.quick ? 1_000 : 3_000
    const result = await accepted(stage, to, { topic, eventType: EVENT_TYPE, batch: undefined, durationMs })
    await empty(fantail)
    options.report(`${topic}: ${result.requestsPerSecond.toFixed(0)}/s, ${result.micros.toFixed(1)} µs each`)
    return result
  }
  const [checked, unchecked] = [lapOn('checked'), lapOn('unchecked')]
  await interleaved(1, checked, unchecked)
  const pairs = await interleaved(options.quick ? 2 : ROUNDS, checked, unchecked)
  await endFantail(fantail, options)
  return rowsOf(pairs)
}

async function put(url: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
}

function rowsOf(pairs: [checked: Accepted, unchecked: Accepted][]): Row[] {
  const ratios = pairs.map(([checked, unchecked]) => checked.micros / unchecked.micros)
  const note = noteOfPairs(pairs)
  return [
    rowOf('CPU of the API, checked : unchecked', intervalOf(ratios), { unit: '×', atMost: 1.1, note }),
    rowOf('CPU of the API per checked publish', figureOf(pairs.map(([checked]) => checked.micros)), {
      unit: 'µs',
    }),
  ]
}
