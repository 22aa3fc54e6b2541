import type { Findings } from '../plan/findings.ts'
import type { Here } from '../plan/run-import.ts'
import type { SourceSubscription } from './aws-source.ts'

/** Facts that the translation of a single topic, queue or subscription needs. */
export interface Translation {
  here: Here
  findings: Findings
  /** ARNs of the queues that exist here, or will. */
  queues: ReadonlySet<string>
  /** Policies of queues by their ARNs. */
  policies: ReadonlyMap<string, string>
  /** Why endpoints cannot be subscribed here, by `keyOf`. */
  refused: ReadonlyMap<string, string>
}

export function keyOf({ protocol, endpoint }: Pick<SourceSubscription, 'protocol' | 'endpoint'>): string {
  return `${protocol} ${endpoint}`
}
