/** The audit log: one line for every requested change, whether it was made or refused. It never holds a secret. */
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
  info(fields: object, event: string): void
}

/** The service’s log, and the settings that say whether keys are required. */
interface AuditDeps {
  log: AuditLog & { debug(fields: object, event: string): void }
  settings: { auth: boolean; awsCredentials?: readonly unknown[] | undefined }
}

/** Without keys every caller is anonymous, so the lines are logged at level debug. */
export function auditLog({ log, settings: { auth, awsCredentials = [] } }: AuditDeps): AuditLog {
  if (auth || awsCredentials.length > 0) return log
  return { info: (fields, event) => log.debug(fields, event) }
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
  const who = { keyId: change.who ?? whoIs(caller), ...(caller && { account: caller.account }) }
  log.info({ ...who, action, resource: params, result, status, ...(code && { code }), requestId }, 'audit')
}
