/** Logs: one JSON line per unit of work on stdout. */
import { printableLines } from '@fantail/policy'
import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

interface LoggerOptions {
  /** The name of the service, in every line. */
  service: string
  /** An unknown level counts as info. The check of the settings reports it. */
  level?: string
  /** Default: stdout. */
  destination?: DestinationStream
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent']
const SECRETS = ['authorization', 'password', 'receiptHandle', 'redisUrl', 'token']

/**
 * Lines are written at once. pino's default writes in the background. At an exit, its last lines came out of order in
 * every second try, and these lines say why a process ended.
 */
export function createLogger({ service, level = 'info', destination }: LoggerOptions): Logger {
  const options = {
    level: LEVELS.includes(level) ? level : 'info',
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    serializers: { err: errorFields },
    // Logs go to terminals too. The escapes are those of JSON, so each field keeps its value.
    hooks: { streamWrite: printableLines },
  }
  return pino(options, destination ?? pino.destination({ fd: process.stdout.fd, sync: true }))
}

interface ErrorFields {
  type: string
  message: string
  code?: string
  stack?: string
  cause?: ErrorFields
}

/** Causes of an error in one log line. Past it: deeper ones are left out. */
const CAUSES_MAX = 4

/**
 * The logged fields of an error. pino's own serializer logs every property. An ioredis error has its command as a
 * property, with message bodies or the password of an AUTH.
 */
export function errorFields(error: unknown, depth = 0): ErrorFields {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { code } = error as NodeJS.ErrnoException
  const cause = error instanceof AggregateError ? error.errors[0] : error.cause
  return {
    type: error.name,
    message: error.message || String(code ?? ''),
    ...(code === undefined ? {} : { code: String(code) }),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(cause === undefined || depth === CAUSES_MAX ? {} : { cause: errorFields(cause, depth + 1) }),
  }
}

/** A URL without user, password and query, for logs. */
export function withoutCredentials(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed) return '[no URL]'
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`
}
