/**
 * The audit log in a file of its own, apart from the log on stdout. Each line opens the file again, so that a rotation
 * needs only to rename it. Changes are rare enough for that.
 *
 * A full disk may cut a line, also one of an earlier process. The next line then begins on a line of its own, so that a
 * reader loses only the one that was cut, and the log has it.
 */
import { appendFileSync, closeSync, existsSync, fchownSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createLogger, type Logger } from './logger.ts'
import { createStateLog } from './state-log.ts'

const MODE = 0o640

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
  let isWhole = false
  const append = (text: string) => {
    if (process.getuid?.() === 0 && !existsSync(path)) makeForOwner(path)
    const start = isWhole || !isCut(path) ? '' : '\n'
    isWhole = false
    appendFileSync(path, start + text, { mode: MODE })
    isWhole = true
  }
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

/**
 * The file belongs to the owner of its folder. The services may not write one of root's, which a command makes if it is
 * the first to write after a rotation. `x` follows no link, so that the owner cannot get another file this way.
 */
function makeForOwner(path: string): void {
  const { uid, gid } = statSync(dirname(path))
  const file = openSync(path, 'ax', MODE)
  try {
    fchownSync(file, uid, gid)
  } finally {
    closeSync(file)
  }
}

function isCut(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile() || stats.size === 0) return false
  const file = openSync(path, 'r')
  try {
    const last = Buffer.alloc(1)
    readSync(file, last, 0, 1, stats.size - 1)
    return last.toString() !== '\n'
  } finally {
    closeSync(file)
  }
}
