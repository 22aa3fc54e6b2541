/**
 * The audit log: one line for every requested change, whether it was made or refused. It never holds a secret. Each
 * line goes to the service's log, or to a file of its own, and to the audit trail in Redis.
 */
import type { AuditLine } from '@fantail/contracts'
import type { AuditStream } from '@fantail/store'
import { type Caller, whoIs } from './caller.ts'

/** Names in an audit line. Past it: the others are left out. */
const AUDIT_NAMES_MAX = 8
/** Length of a text in an audit line. Past it: the line has its beginning. */
const AUDIT_TEXT_CHARS_MAX = 300

interface Change {
  caller: Caller
  /** Absent if the caller is anonymous. */
  who?: string
  requestId: string
  /** The caller's address. */
  address?: string | undefined
  /** The route, or an operation as in `SNS:CreateTopic`. */
  action: string
  /** The names in the path or the request. */
  params: Record<string, string>
  status: number
  /** The error code, if refused. */
  code?: string | undefined
  /**
   * Whether access was denied. If unset, the statuses 401 and 403 mean it. SQS's RequestThrottled (403) sets it to
   * false.
   */
  denied?: boolean | undefined
}

export interface AuditLog {
  /** `caller`: who asked, if it is a key. */
  add(line: AuditLine, caller?: Caller): void
}

/** The service’s log or a file, the trail in Redis, and the settings that say whether keys are required. */
interface AuditDeps {
  log: { info(fields: object, event: string): void; debug(fields: object, event: string): void }
  /** FANTAIL_AUDIT_FILE. Absent: the lines go to the log. */
  auditFile?: { info(fields: object, event: string): void } | undefined
  auditWriter: { add(line: AuditLine, stream: AuditStream): void }
  settings: { auth: boolean; awsCredentials?: readonly unknown[] | undefined }
}

/** Without keys every caller is anonymous, so the log has the lines at level debug. */
export function auditLog({ log, auditFile, auditWriter, settings }: AuditDeps): AuditLog {
  const { auth, awsCredentials = [] } = settings
  const keysRequired = auth || awsCredentials.length > 0
  return {
    add: (given, caller) => {
      const line = bounded(given)
      if (auditFile) auditFile.info(line, 'audit')
      else if (keysRequired) log.info(line, 'audit')
      else log.debug(line, 'audit')
      auditWriter.add(line, keysRequired ? streamOf(line, caller) : 'lines')
    },
  }
}

/** Callers who follow a link have no key. A key with prefixes can make any number of such links. */
function streamOf({ keyId, account, portal, result }: AuditLine, caller: Caller = null): AuditStream {
  if (result !== 'done') return account === undefined ? 'strangers' : 'refused'
  if (portal !== undefined) return 'portal'
  return keyId === whoIs(null) || (caller !== null && caller.prefixes.length > 0) ? 'bound' : 'lines'
}

/** Callers choose the names in paths, and the lines of refused calls must not fill a disk. */
function bounded(line: AuditLine): AuditLine {
  const names = Object.entries(line.resource).slice(0, AUDIT_NAMES_MAX)
  const cut = (text: string) => text.slice(0, AUDIT_TEXT_CHARS_MAX)
  return {
    ...line,
    resource: Object.fromEntries(names.map(([name, value]) => [cut(name), cut(String(value))])),
    requestId: cut(line.requestId),
  }
}

export function reportChange(log: AuditLog, change: Change): void {
  const {
    caller,
    requestId,
    address,
    action,
    params,
    status,
    code,
    denied = status === 401 || status === 403,
  } = change
  const result = denied ? 'denied' : status < 400 ? 'done' : 'failed'
  const who = {
    keyId: change.who ?? whoIs(caller),
    ...(caller && { account: caller.account }),
    ...(address !== undefined && { address }),
    ...(caller?.portal && { portal: caller.portal.id }),
  }
  log.add({ ...who, action, resource: params, result, status, ...(code && { code }), requestId }, caller)
}
