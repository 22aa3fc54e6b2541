/**
 * Starts telemetry for a process. It always has Prometheus text for its own /metrics, and exports by OTLP if OTEL_*
 * variables ask for it. The SDK is loaded only for OTLP, because it takes about 230 ms and 46 MB. Scrapes alone need 90
 * ms and 30 MB, so a process of local mode loads their code at the first scrape.
 */
import { DiagLogLevel, diag, metrics as globalMetrics, logs, trace } from '@opentelemetry/api'
import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import type { IMetricReader, MetricProducer } from '@opentelemetry/sdk-metrics'
import { createLogRecords, type LogRecords, NO_LOG_RECORDS } from './log-records.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { type Env, isAnySent, type SentSignals, sentSignals } from './sent-signals.ts'
import { createSpans, NO_SPANS, type Spans } from './spans.ts'

interface TelemetryOptions {
  /** `publish-api`, `delivery-worker` or `redrive`. OTEL_SERVICE_NAME overrides it. */
  service: string
  metrics?: Metrics
  env?: Env
  /** Whether the code of scrapes is loaded at the first scrape. Default: now, so that no scrape delays deliveries. */
  scrapesLater?: boolean
  /** Called with the reason if telemetry is not collected or sent. Each reason is reported at most once a minute. */
  onProblem?: (detail: string) => void
}

export interface Telemetry {
  metrics: Metrics
  spans: Spans
  logs: LogRecords
  /** The text of a Prometheus scrape: Fantail's metrics and BullMQ's. */
  renderMetrics(): Promise<string>
  /** Sends the remaining data within a time limit. Never rejects. */
  stop(): Promise<void>
}

const PROBLEM_PAUSE_MS = 60_000
const EXPORT_INTERVAL_MS = 60_000
/**
 * Time that the last export of traces has. Past it: the process stops without it. The SDK tries an unreachable
 * collector for nine seconds, half of the time that a process has for stopping.
 */
const EXPORT_STOP_TIMEOUT_MS = 3_000

export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { service, metrics = createMetrics(), env = process.env, onProblem = () => {} } = options
  const report = sparingly(onProblem)
  const sent = sentSignals(env)
  reportTo(report, env)
  let opened: Promise<Scrapes> | undefined
  const scrapes = () => {
    opened ??= openScrapes({ service, metrics, env, sent }, report)
    return opened
  }
  if (!options.scrapesLater || isAnySent(sent)) await scrapes()
  return {
    metrics,
    spans: sent.traces ? createSpans(trace.getTracer('fantail')) : NO_SPANS,
    logs: sent.logs ? createLogRecords(logs.getLogger('fantail')) : NO_LOG_RECORDS,
    renderMetrics: async () => (await scrapes()).render(),
    async stop() {
      const stopped = opened?.then(({ stop }) => stop())
      if (stopped)
        await within(EXPORT_STOP_TIMEOUT_MS, stopped).catch((error: unknown) => report(String(error)))
      // Tests start telemetry several times in a process. OpenTelemetry's globals must be cleared first.
      globalMetrics.disable()
      trace.disable()
      logs.disable()
      diag.disable()
    },
  }
}

interface Scrapes {
  render(): Promise<string>
  stop(): Promise<void>
}

interface ScrapesOptions {
  service: string
  metrics: Metrics
  env: Env
  sent: SentSignals
}

async function openScrapes(options: ScrapesOptions, report: (detail: string) => void): Promise<Scrapes> {
  const { metrics, sent } = options
  const [{ createMetricProducer }, { PrometheusExporter, PrometheusSerializer }] = await Promise.all([
    import('./metric-producer.ts'),
    import('@opentelemetry/exporter-prometheus'),
  ])
  const producer = createMetricProducer(metrics)
  const reader = new PrometheusExporter({ preventServerStart: true, metricProducers: [producer] })
  const stop = await (isAnySent(sent) ? startSdk({ ...options, reader, producer }) : startReader(reader))
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true)
  return {
    stop,
    async render() {
      const { resourceMetrics, errors } = await reader.collect()
      for (const error of errors) report(String(error))
      return serializer.serialize(resourceMetrics)
    },
  }
}

async function within(timeoutMs: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(() => late.reject(new Error(`not all was sent within ${timeoutMs} ms`)), timeoutMs)
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}

type Stop = () => Promise<void>

async function startReader(reader: PrometheusExporter): Promise<Stop> {
  const { MeterProvider } = await import('@opentelemetry/sdk-metrics')
  const provider = new MeterProvider({ readers: [reader] })
  globalMetrics.setGlobalMeterProvider(provider)
  return () => provider.shutdown()
}

interface SdkParts extends ScrapesOptions {
  reader: PrometheusExporter
  producer: MetricProducer
}

async function startSdk({ service, reader, producer, env, sent }: SdkParts): Promise<Stop> {
  const [{ NodeSDK }, { envDetector, serviceInstanceIdDetector }] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/resources'),
  ])
  const readers: IMetricReader[] = sent.metrics ? [reader, await otlpReader(producer, env)] : [reader]
  const sdk = new NodeSDK({
    serviceName: env.OTEL_SERVICE_NAME || service,
    metricReaders: readers,
    // The SDK's default detectors would also export the process's command line and the user who runs it.
    ...(env.OTEL_NODE_RESOURCE_DETECTORS
      ? {}
      : { resourceDetectors: [envDetector, serviceInstanceIdDetector] }),
    // Without given processors, the SDK makes them from the environment. An empty list means none.
    ...(sent.traces ? {} : { spanProcessors: [] }),
    ...(sent.logs ? {} : { logRecordProcessors: [] }),
  })
  sdk.start()
  return () => sdk.shutdown()
}

/** The SDK makes its own OTLP reader only if it gets no readers at all, so it is made here. */
async function otlpReader(producer: MetricProducer, env: Env): Promise<IMetricReader> {
  const { PeriodicExportingMetricReader } = await import('@opentelemetry/sdk-metrics')
  const { OTLPMetricExporter } = await importOtlpExporter(env)
  const exportIntervalMillis = Number(env.OTEL_METRIC_EXPORT_INTERVAL) || EXPORT_INTERVAL_MS
  const exportTimeoutMillis = Math.min(Number(env.OTEL_METRIC_EXPORT_TIMEOUT) || 30_000, exportIntervalMillis)
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    exportIntervalMillis,
    exportTimeoutMillis,
    metricProducers: [producer],
  })
}

function importOtlpExporter(env: Env) {
  switch (env.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL) {
    case 'grpc':
      return import('@opentelemetry/exporter-metrics-otlp-grpc')
    case 'http/json':
      return import('@opentelemetry/exporter-metrics-otlp-http')
    default:
      return import('@opentelemetry/exporter-metrics-otlp-proto')
  }
}

function reportTo(report: (detail: string) => void, env: Env): void {
  // The operator set OTEL_LOG_LEVEL, so the SDK writes its diagnostics to the console.
  if (env.OTEL_LOG_LEVEL) return
  const reportAll = (message: string, ...rest: unknown[]) => report([message, ...rest.map(String)].join(' '))
  const silent = () => {}
  const logger = { error: reportAll, warn: reportAll, info: silent, debug: silent, verbose: silent }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

/**
 * Reports each reason at most once a minute. Otherwise an unreachable collector would cause a log line every few
 * seconds.
 */
function sparingly(report: (detail: string) => void): (detail: string) => void {
  let last = ''
  let toldAt = Number.NEGATIVE_INFINITY
  return (detail) => {
    const now = performance.now()
    if (detail === last && now - toldAt < PROBLEM_PAUSE_MS) return
    last = detail
    toldAt = now
    report(detail)
  }
}
