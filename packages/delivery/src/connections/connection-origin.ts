import type { Route } from '../outbound/outbound-route.ts'

/** Where a connection is to lead. */
export interface Origin {
  secure: boolean
  /** Host name or address, an IPv6 one without brackets. */
  host: string
  port: number
  route?: Route | undefined
}
