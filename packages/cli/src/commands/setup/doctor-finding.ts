export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'failed'
  detail: string
  /** The remedy. */
  fix?: string
}
