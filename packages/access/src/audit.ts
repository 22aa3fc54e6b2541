/**
 * The audit log: one line for every requested change, whether it was made or refused. It never holds a secret. Each
 * line goes to the service's log, and to the audit trail in Redis.
 */
import type { AuditLine } from '@fantail/contracts'
import { type Caller, whoIs } from './caller.ts'

interface Change {
  caller: Caller
  /** Absent if the caller is anonymous. */
  who?: string
  requestId: string
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
  add(line: AuditLine): void
}

/** The service’s log, the trail in Redis, and the settings that say whether keys are required. */
interface AuditDeps {
  log: { info(fields: object, event: string): void; debug(fields: object, event: string): void }
  auditWriter: { add(line: AuditLine, how: { stranger: boolean }): void }
  settings: { auth: boolean; awsCredentials?: readonly unknown[] | undefined }
}

/** Without keys every caller is anonymous, so the lines are logged at level debug. */
export function auditLog({ log, auditWriter, settings }: AuditDeps): AuditLog {
  const { auth, awsCredentials = [] } = settings
  const keysRequired = auth || awsCredentials.length > 0
  return {
    add: (line) => {
      if (keysRequired) log.info(line, 'audit')
      else log.debug(line, 'audit')
      const stranger = keysRequired && line.account === undefined && line.result !== 'done'
      auditWriter.add(line, { stranger })
    },
  }
}

export function reportChange(log: AuditLog, change: Change): void {
  const {
    caller,
    requestId,
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
    ...(caller?.portal && { portal: caller.portal.id }),
  }
  log.add({ ...who, action, resource: params, result, status, ...(code && { code }), requestId })
}
