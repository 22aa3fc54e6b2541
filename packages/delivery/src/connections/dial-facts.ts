import type { AttemptStage } from '@fantail/contracts'
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

/** Times and place of a dial. Times are by performance.now(). Absent: the dial has not come that far. */
export interface DialFacts {
  startedAt: number
  resolvedAt?: number
  /** With a proxy: when the proxy was reached. */
  connectedAt?: number
  securedAt?: number
  isProxied: boolean
  isSecure: boolean
  /** Whether the connection leads to a public address. False if a proxy or the operator chose the address. */
  isPublic(): boolean
}

/** The part of a dial that has not ended. */
export function stageOfDial(facts: DialFacts | undefined): AttemptStage {
  if (!facts?.resolvedAt) return 'dns'
  if (!facts.connectedAt) return 'connect'
  if (facts.isProxied) return 'proxy'
  return facts.isSecure && !facts.securedAt ? 'tls' : 'connect'
}
