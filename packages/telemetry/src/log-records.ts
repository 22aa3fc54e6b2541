/**
 * OpenTelemetry log records for events that an operator asked for beyond the process's own log. Off unless an exporter
 * is set.
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
  /** Whether anything is sent; worth asking before a record is put together. */
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
