import { expect, test } from 'vitest'
import type { Measurement } from '../contest/measure.ts'
import { readOptions } from '../options.ts'
import { jsonLine, tables } from './report.ts'
import { figureOf, type Rounds } from './summary.ts'

function measurement(deliveriesPerSecond: number, set: Partial<Measurement> = {}): Measurement {
  return {
    deliveriesPerSecond,
    publishesPerSecond: deliveriesPerSecond / 10,
    publishP50Ms: 5,
    publishP99Ms: 20,
    deliveries: 1_000,
    drainSeconds: 0.5,
    lost: 0,
    duplicates: 0,
    refused: 0,
    cpuMicros: { api: 7, worker: 30, redis: 3 },
    ...set,
  }
}

const ROUNDS: Rounds = {
  fantail: [measurement(36_000), measurement(30_000), measurement(33_000, { duplicates: 2 })],
  bullmq: [measurement(5_000), measurement(6_000), measurement(5_500)],
  bare: [measurement(40_000, { cpuMicros: { loop: 20 } })],
}

test('a figure is the median, with its spread', () => {
  expect(figureOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 })
  expect(figureOf([4, 1])).toEqual({ median: 2.5, min: 1, max: 4 })
  expect(figureOf([])).toEqual({ median: Number.NaN, min: Number.NaN, max: Number.NaN })
})

test('a JSON line has deliveries per second by contestant, the ratio, and what was counted', () => {
  expect(JSON.parse(jsonLine('fanout-10', ROUNDS))).toMatchObject({
    scenario: 'fanout-10',
    fantail: 33_000,
    bullmq: 5_500,
    bare: 40_000,
    ratioToBullmq: 6,
    ratioToBullmqByRound: [7.2, 5, 6],
    rounds: 3,
    minMax: { fantail: [30_000, 36_000] },
    cpuMicrosPerDelivery: { fantail: { services: 37, redis: 3 }, bare: { services: 20, redis: 0 } },
    duplicates: { fantail: 2, bullmq: 0, bare: 0 },
  })
})

test('the tables name every scenario, the ratio and what was lost', () => {
  const text = tables(new Map([['fanout-10', ROUNDS]]))
  expect(text).toContain('33,000 (30,000–36,000)')
  expect(text).toMatch(/\| fanout-10 .* 6 x /)
  expect(text).toContain('Fantail: 0 lost, 2 twice, 0 publishes refused')
})

test('a contestant that did not run is left out', () => {
  const line = JSON.parse(jsonLine('fanout-1', { fantail: [measurement(9_000)] }))
  expect(line).toMatchObject({ fantail: 9_000, ratioToBullmq: null })
  expect(line).not.toHaveProperty('bullmq')
  const text = tables(new Map([['fanout-1', { fantail: [measurement(9_000)] }]]))
  expect(text).toContain('| Fantail |')
  expect(text).not.toContain('BullMQ')
})

test('--quick keeps to two scenarios; words may come after a double dash', () => {
  const quick = readOptions(['--', '--quick', '--json'])
  expect(quick).toMatchObject({ json: true, fanOuts: [10, 1] })
  expect(readOptions([]).fanOuts).toEqual([10, 1, 100])
  expect(readOptions(['--rounds', '2', '--only', 'bare,fantail']).names).toEqual(['bare', 'fantail'])
})

test('words that are not understood are answered by the usage', () => {
  for (const words of [['--fast'], ['--rounds', '0'], ['--fanout', '10,x'], ['--only', 'kafka']]) {
    expect(() => readOptions(words)).toThrow('usage: npm run bench')
  }
})
