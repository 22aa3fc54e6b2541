/** Gives the process's instruments to OpenTelemetry's readers when they scrape or send. */
import type { HrTime } from '@opentelemetry/api'
import { ValueType } from '@opentelemetry/api'
import { emptyResource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram as HistogramValue,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { CounterView } from './aws-metrics.ts'
import { Counter, Histogram, type HistogramSeries, type Labels } from './instruments.ts'
import type { Metrics } from './metrics.ts'

const SCOPE = { name: 'fantail' }

export function createMetricProducer(metrics: Metrics): MetricProducer {
  const startTime = hrTime()
  return {
    async collect(): Promise<CollectionResult> {
      const errors: unknown[] = []
      await metrics.refresh().catch((error: unknown) => errors.push(error))
      const times = { startTime, endTime: hrTime() }
      const data = [
        ...Object.values(metrics.instruments()).map((instrument) => toMetricData(instrument, times)),
        ...metrics.views().map((view) => toSum(view, times)),
      ]
      const scopeMetrics = [{ scope: SCOPE, metrics: data }]
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors }
    },
  }
}

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>
type AnyInstrument = NonNullable<ReturnType<Metrics['instruments']>[keyof ReturnType<Metrics['instruments']>]>

function toMetricData(instrument: AnyInstrument, times: Times): MetricData {
  const base = {
    descriptor: descriptor(instrument.words),
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const point = <T>(labels: Labels, value: T): DataPoint<T> => ({ ...times, attributes: labels, value })
  if (instrument instanceof Histogram) {
    const dataPoints = Array.from(instrument.series(), (series) =>
      point(series.labels, histogramValue(series)),
    )
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
  if (instrument instanceof Counter) {
    return toSum({ words: instrument.words, series: () => instrument.series() }, times)
  }
  const dataPoints = Array.from(instrument.series(), (series) => point(series.labels, series.value))
  return { ...base, dataPointType: DataPointType.GAUGE, dataPoints }
}

function toSum({ words, series }: CounterView, times: Times): MetricData {
  return {
    descriptor: descriptor(words),
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    dataPoints: Array.from(series(), ({ labels, value }) => ({ ...times, attributes: labels, value })),
  }
}

function descriptor({ name, help, unit = '' }: CounterView['words']) {
  return { name, description: help, unit, valueType: ValueType.DOUBLE }
}

function histogramValue({ bounds, counts, sum }: HistogramSeries): HistogramValue {
  const count = counts.reduce((all, one) => all + one, 0)
  return { buckets: { boundaries: [...bounds], counts: [...counts] }, sum, count }
}

function hrTime(): HrTime {
  const now = Date.now()
  return [Math.floor(now / 1_000), (now % 1_000) * 1_000_000]
}
