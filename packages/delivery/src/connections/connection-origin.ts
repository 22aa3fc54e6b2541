import type { Route } from '../outbound/outbound-route.ts'

/** The server that a connection leads to. */
export interface Origin {
  secure: boolean
  /** A host name, or an address. An IPv6 address has no brackets. */
  host: string
  port: number
  route?: Route | undefined
  /** The protocol over TLS. Default: HTTP/1.1. */
  alpn?: 'h2'
}
