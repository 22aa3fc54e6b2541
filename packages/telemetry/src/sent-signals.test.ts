import { expect, it } from 'vitest'
import { sentSignals } from './sent-signals.ts'

it.each([
  [{}, { traces: false, metrics: false, logs: false }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, { traces: true, metrics: true, logs: true }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, { traces: false, metrics: false, logs: false }],
  [
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318' },
    { traces: true, metrics: false, logs: false },
  ],
  [
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector:4318' },
    { traces: false, metrics: true, logs: false },
  ],
  [
    { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://collector:4318' },
    { traces: false, metrics: false, logs: true },
  ],
  [{ OTEL_LOGS_EXPORTER: 'console' }, { traces: false, metrics: false, logs: true }],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_LOGS_EXPORTER: 'none' },
    { traces: true, metrics: true, logs: false },
  ],
  [{ OTEL_TRACES_EXPORTER: 'console' }, { traces: true, metrics: false, logs: false }],
  [{ OTEL_METRICS_EXPORTER: 'prometheus' }, { traces: false, metrics: false, logs: false }],
  [{ OTEL_METRICS_EXPORTER: 'prometheus, otlp' }, { traces: false, metrics: true, logs: false }],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' },
    { traces: false, metrics: true, logs: true },
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' },
    { traces: false, metrics: false, logs: false },
  ],
])('with %j sends %j', (env, sent) => {
  expect(sentSignals(env)).toEqual(sent)
})
