import { describe, expect, it } from 'vitest'
import { Counter, Histogram } from './instruments.ts'
import { createMetrics } from './metrics.ts'
import type { LaneObservation } from './observed-gauges.ts'

const lane = (subscription: string, rest: Partial<LaneObservation> = {}): LaneObservation => ({
  topic: 'orders',
  subscription,
  waiting: 1,
  inFlight: 0,
  oldestSeconds: null,
  drainSeconds: null,
  ...rest,
})

const valuesOf = (series: Iterable<{ labels: object; value: number }>) =>
  Array.from(series, ({ labels, value }) => [...Object.values(labels), value])

describe('counter', () => {
  it('counts by label set, wherever the set is named again', () => {
    const counter = new Counter({ name: 'x', help: 'x', labels: ['topic', 'cause'] })
    counter.of({ topic: 'orders', cause: 'permanent' }).add()
    counter.of({ cause: 'permanent', topic: 'orders' }).add(2)
    counter.of({ topic: 'orders', cause: 'purged' }).add()
    expect(valuesOf(counter.series())).toEqual([
      ['orders', 'permanent', 3],
      ['orders', 'purged', 1],
    ])
  })

  it('keeps a bounded number of label sets apart and loses no count', () => {
    const counter = new Counter({ name: 'x', help: 'x', labels: ['topic'], seriesMax: 3 })
    for (let i = 0; i < 10; i++) counter.of({ topic: `t${i}` }).add()
    counter.of({ topic: 't1' }).add()
    expect(valuesOf(counter.series())).toEqual([
      ['t0', 1],
      ['t1', 2],
      ['t2', 1],
      ['true', 7],
    ])
  })
})

describe('histogram', () => {
  it('counts a value in the first bucket that reaches it', () => {
    const series = new Histogram({ name: 'x', help: 'x', labels: [] }, [0.1, 1, 10]).of({})
    for (const value of [0.1, 0.11, 1, 10, 11, 86_400]) series.record(value)
    expect(series.counts).toEqual([1, 2, 1, 2])
    expect(series.sum).toBeCloseTo(86_422.21)
  })

  it('counts a negative time as none', () => {
    const series = new Histogram({ name: 'x', help: 'x', labels: [] }, [1]).of({})
    series.record(-5)
    expect([series.counts, series.sum]).toEqual([[1, 0], 0])
  })
})

describe('gauges of lanes', () => {
  it('show what the source says now, and nothing of before', async () => {
    const metrics = createMetrics()
    let now = [lane('a', { waiting: 5, oldestSeconds: 60, drainSeconds: 2.5 }), lane('b')]
    metrics.observeLanes(async () => now)
    await metrics.refresh()
    now = [lane('b', { waiting: 7 })]
    await metrics.refresh()
    expect(valuesOf(metrics.lanesWaiting.series())).toEqual([['orders', 'b', 7]])
    expect(valuesOf(metrics.lanesOldestSeconds.series())).toEqual([])
  })

  it('show the thousand lanes in which most waits', async () => {
    const metrics = createMetrics()
    metrics.observeLanes(async () => Array.from({ length: 1_500 }, (_, i) => lane(`s${i}`, { waiting: i })))
    await metrics.refresh()
    const shown = valuesOf(metrics.lanesWaiting.series())
    expect(shown).toHaveLength(1_000)
    expect(shown.at(0)).toEqual(['orders', 's1499', 1_499])
  })

  it('are absent while their source fails, which is logged', async () => {
    const metrics = createMetrics()
    metrics.observeLanes(async () => [lane('a')])
    await metrics.refresh()
    metrics.observeLanes(() => Promise.reject(new Error('no Redis')))
    await expect(metrics.refresh()).rejects.toThrow('no Redis')
    expect(valuesOf(metrics.lanesWaiting.series())).toEqual([])
  })
})

it('shows of the logs of FIFO topics what waits there now, and of equal names the sum', async () => {
  const metrics = createMetrics()
  let now = [
    { topic: 'orders.fifo', messages: 5, oldestSeconds: 2 },
    { topic: 'orders.fifo', messages: 1, oldestSeconds: 9 },
  ]
  metrics.observeFifoLogs(async () => now)
  await metrics.refresh()
  expect(valuesOf(metrics.fifoLogMessages.series())).toEqual([['orders.fifo', 6]])
  expect(valuesOf(metrics.fifoLogOldestSeconds.series())).toEqual([['orders.fifo', 9]])
  now = []
  await metrics.refresh()
  expect(valuesOf(metrics.fifoLogMessages.series())).toEqual([])
})
