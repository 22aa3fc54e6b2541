import type { FoundSubscription } from '../../service/state-file.ts'
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
  /** The subscriptions of the server by topic and `keyOf`. */
  present: ReadonlyMap<string, FoundSubscription>
}

/** The subscription of the server with the same topic, protocol and endpoint. */
export function presentOf(
  given: SourceSubscription,
  { present }: Translation,
): FoundSubscription | undefined {
  return present.get(`${given.topicArn} ${keyOf(given)}`)
}

export function keyOf({ protocol, endpoint }: Pick<SourceSubscription, 'protocol' | 'endpoint'>): string {
  return `${protocol} ${endpoint}`
}
