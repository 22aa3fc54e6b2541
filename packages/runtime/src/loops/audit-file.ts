/**
 * The audit log in a file of its own, apart from the log on stdout. Each line opens the file anew, so that a rotation
 * needs only to rename it. Changes are rare enough for that.
 */
import { appendFileSync } from 'node:fs'
import { createLogger, type Logger } from './logger.ts'
import { createStateLog } from './state-log.ts'

interface AuditFileOptions {
  service: string
  /** FANTAIL_AUDIT_FILE. Absent: there is no file, and audit lines belong to the log. */
  path: string | undefined
  /** Gets the lines that the file refuses, so that none is lost. */
  log: Pick<Logger, 'info' | 'warn'>
}

export interface AuditFile {
  info(fields: object, event: string): void
}

/** Throws if the file cannot be written. */
export function openAuditFile({ service, path, log }: AuditFileOptions): AuditFile | undefined {
  if (path === undefined) return undefined
  const append = (text: string) => appendFileSync(path, text, { mode: 0o640 })
  try {
    append('')
  } catch (error) {
    throw new Error(`FANTAIL_AUDIT_FILE cannot be written: ${(error as Error).message}`, { cause: error })
  }
  const report = createStateLog({ log, what: 'audit_file', initial: 'up' })
  const lines = createLogger({ service, destination: { write: append } })
  return {
    info: (fields, event) => {
      try {
        lines.info(fields, event)
        report('up')
      } catch (error) {
        report('down', error)
        log.info(fields, event)
      }
    },
  }
}
