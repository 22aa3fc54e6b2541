/**
 * Finds settings of AWS clients that Fantail stores but does not act on. A call with such a setting succeeds, so its
 * caller would not notice. Therefore the API logs these settings once per resource. docs/aws-without-effect.md has the
 * same list.
 */
import { objectOf } from '@fantail/contracts'
import type { Log } from '../../http/log.ts'

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
export const WITHOUT_EFFECT: Record<Kind, Record<string, Asks>> = {
  topic: {
    TracingConfig: unless('passthrough'),
    DataProtectionPolicy: always,
  },
  queue: { FifoThroughputLimit: unless('perqueue') },
  subscription: { SubscriptionRoleArn: always },
}

type Kind = 'topic' | 'queue' | 'subscription'

/**
 * The AWS services whose admission by a policy has an effect in Fantail. There is one: SNS, because topics send to
 * queues.
 */
const CALLING_SERVICES: Record<Kind, string[]> = {
  topic: [],
  queue: ['sns.amazonaws.com'],
  subscription: [],
}

/**
 * Names of the given attributes that have no effect. If a policy admits services that never call Fantail, each of these
 * services is listed as `Policy for <service>`.
 */
export function withoutEffect(kind: Kind, given: Record<string, string>): string[] {
  const known = WITHOUT_EFFECT[kind]
  return Object.entries(given).flatMap(([name, text]) => {
    if (name === 'Policy') return foreignServices(kind, text).map((service) => `Policy for ${service}`)
    return Object.hasOwn(known, name) && known[name]?.(text) ? [name] : []
  })
}

/** AWS services that a policy admits, but that never call Fantail. */
function foreignServices(kind: Kind, text: string): string[] {
  const statements = [objectOf(text)?.Statement ?? []].flat() as { Principal?: unknown }[]
  const services = statements.flatMap((statement) => servicesOf(statement?.Principal))
  return [...new Set(services)].filter((service) => !CALLING_SERVICES[kind].includes(service))
}

function servicesOf(principal: unknown): string[] {
  if (typeof principal !== 'object' || principal === null) return []
  const named = Object.entries(principal).filter(([name]) => name.toLowerCase() === 'service')
  return named.flatMap(([, value]) => value).filter((value) => typeof value === 'string')
}

/** Resources whose logged settings a process remembers. Past it: all are forgotten, and a line may be logged again. */
const LOGGED_RESOURCES_MAX = 10_000

export class WithoutEffectLog {
  readonly #log: Pick<Log, 'warn'>
  readonly #logged = new Map<string, Set<string>>()

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log
  }

  /** Logs the settings that were not logged for this resource before. */
  note(kind: Kind, arn: string, given: Record<string, string>): void {
    const found = withoutEffect(kind, given)
    const before = this.#logged.get(arn) ?? new Set<string>()
    if (found.every((what) => before.has(what))) return
    if (this.#logged.size >= LOGGED_RESOURCES_MAX) this.#logged.clear()
    this.#logged.set(arn, new Set([...before, ...found]))
    const detail = `accepted and kept, without effect: ${found.join(', ')}; see docs/aws-without-effect.md`
    this.#log.warn({ [`${kind}Arn`]: arn, attributes: found, detail }, `${kind}.without_effect`)
  }
}
