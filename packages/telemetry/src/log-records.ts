/**
 * OpenTelemetry log records of some events, in addition to the process's own log. They are off unless an exporter is
 * set.
 */
import { type Attributes, type Logger, SeverityNumber } from '@opentelemetry/api'

const SEVERITIES = { info: SeverityNumber.INFO, warn: SeverityNumber.WARN }

type Value = string | number | { [name: string]: Value }

export interface LogRecordWords {
  /** The event's name in the process's own log. */
  event: string
  severity: keyof typeof SEVERITIES
  body: Value
  attributes?: Attributes
}

export interface LogRecords {
  /** Whether records are sent. Check it before building a record. */
  readonly on: boolean
  emit(record: LogRecordWords): void
}

export const NO_LOG_RECORDS: LogRecords = { on: false, emit: () => {} }

export function createLogRecords(logger: Logger): LogRecords {
  return {
    on: true,
    emit({ event, severity, body, attributes }) {
      const severityNumber = SEVERITIES[severity]
      const severityText = severity.toUpperCase()
      logger.emit({ eventName: event, severityNumber, severityText, body, ...(attributes && { attributes }) })
    },
  }
}
