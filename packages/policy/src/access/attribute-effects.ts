/** Settings of AWS clients that Fantail stores and does not act on. docs/aws-without-effect.md has the same list. */
import { objectOf } from '@fantail/contracts'

/** Whether this value of an attribute would have an effect in AWS. */
type Asks = (text: string) => boolean

const always: Asks = (text) => text !== ''
const unless =
  (value: string): Asks =>
  (text) =>
    text !== '' && text.toLowerCase() !== value

/**
 * Attributes that Fantail does not act on, by kind of resource. `Policy` is not listed: `foreignServices` reads its
 * statements.
 */
export const WITHOUT_EFFECT: Record<AttributedKind, Record<string, Asks>> = {
  topic: {
    TracingConfig: unless('passthrough'),
    DataProtectionPolicy: always,
  },
  queue: { FifoThroughputLimit: unless('perqueue') },
  subscription: { SubscriptionRoleArn: always },
}

export type AttributedKind = 'topic' | 'queue' | 'subscription'

/**
 * The AWS services whose admission by a policy has an effect in Fantail. There is one: SNS, because topics send to
 * queues.
 */
const CALLING_SERVICES: Record<AttributedKind, string[]> = {
  topic: [],
  queue: ['sns.amazonaws.com'],
  subscription: [],
}

/**
 * Names of the given attributes that have no effect. If a policy admits services that never call Fantail, each of these
 * services is listed as `Policy for <service>`.
 */
export function withoutEffect(kind: AttributedKind, given: Record<string, string>): string[] {
  const known = WITHOUT_EFFECT[kind]
  return Object.entries(given).flatMap(([name, text]) => {
    if (name === 'Policy') return foreignServices(kind, text).map((service) => `Policy for ${service}`)
    return Object.hasOwn(known, name) && known[name]?.(text) ? [name] : []
  })
}

/** AWS services that a policy admits, but that never call Fantail. */
function foreignServices(kind: AttributedKind, text: string): string[] {
  const statements = [objectOf(text)?.Statement ?? []].flat() as { Principal?: unknown }[]
  const services = statements.flatMap((statement) => servicesOf(statement?.Principal))
  return [...new Set(services)].filter((service) => !CALLING_SERVICES[kind].includes(service))
}

function servicesOf(principal: unknown): string[] {
  if (typeof principal !== 'object' || principal === null) return []
  const named = Object.entries(principal).filter(([name]) => name.toLowerCase() === 'service')
  return named.flatMap(([, value]) => value).filter((value) => typeof value === 'string')
}
