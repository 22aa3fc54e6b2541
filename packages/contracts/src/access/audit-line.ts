/** One line of the audit log: a change that a caller has requested. */
export interface AuditLine {
  /** Id of the key, `anonymous` or `command line`. */
  keyId: string
  /** Absent without a key. */
  account?: string
  /** The caller's address. Absent without a connection. */
  address?: string
  /** The portal session that acted with the key. */
  portal?: string
  /** The route, or an operation as in `SNS:CreateTopic`. */
  action: string
  /** The names in the path or the request. */
  resource: Record<string, string>
  result: 'done' | 'denied' | 'failed'
  status: number
  /** The error code, if refused. */
  code?: string
  requestId: string
}
