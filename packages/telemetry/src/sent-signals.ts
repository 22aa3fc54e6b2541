/**
 * Decides which telemetry signals the process sends, by OpenTelemetry's standard variables. Scrapes are always served.
 */

export type Env = Record<string, string | undefined>

export interface SentSignals {
  traces: boolean
  metrics: boolean
  logs: boolean
}

/**
 * If an exporter is named for a signal, it decides, also `none`. If none is named, an endpoint turns the signal on. The
 * SDK's own default would send to localhost:4318 from every process, whether anything listens there or not.
 */
export function sentSignals(env: Env): SentSignals {
  if (isTrue(env.OTEL_SDK_DISABLED)) return { traces: false, metrics: false, logs: false }
  const common = env.OTEL_EXPORTER_OTLP_ENDPOINT
  const traces = named(env.OTEL_TRACES_EXPORTER)
  const metrics = named(env.OTEL_METRICS_EXPORTER)
  const logs = named(env.OTEL_LOGS_EXPORTER)
  return {
    traces: traces ? !traces.includes('none') : isSet(common, env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT),
    metrics: metrics ? metrics.includes('otlp') : isSet(common, env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT),
    logs: logs ? !logs.includes('none') : isSet(common, env.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT),
  }
}

export function isAnySent({ traces, metrics, logs }: SentSignals): boolean {
  return traces || metrics || logs
}

function named(list: string | undefined): string[] | undefined {
  const names = (list ?? '').split(',').map((name) => name.trim())
  const filled = names.filter((name) => name !== '')
  return filled.length > 0 ? filled : undefined
}

const isTrue = (text: string | undefined) => text?.trim().toLowerCase() === 'true'
const isSet = (...texts: (string | undefined)[]) => texts.some((text) => (text ?? '').trim() !== '')
