/**
 * The state of every delivery of the standard topic's messages, endpoint by endpoint. All accepted messages must be
 * delivered. A publish is stored as a whole or not at all, so an unknown message that turns up anywhere must be
 * delivered everywhere. After a failover this does not hold, because an unknown message may be lost after some of its
 * subscriptions got it.
 */
import type { ReceivedRequest } from '@fantail/test-kit'
import { subscriptionsOf } from '../../harness/receivers/webhooks.ts'
import { KEPT_QUEUE, type Subscribed } from '../inputs/chaos-endpoint.ts'
import { TOPIC } from '../inputs/chaos-topics.ts'
import { DEAD_QUEUE, ENDPOINTS, fateOf, INBOX, recipientsOf } from '../inputs/endpoints.ts'
import type { Publish } from '../inputs/publishing.ts'
import type { PlannedMessage } from '../plan/input-plan.ts'
import { type Counted, queueTexts, sumOfCounts } from '../world/redis-figures.ts'
import type { World } from '../world/world.ts'

export interface EndpointAccount {
  owed: number
  delivered: number
  deadLettered: number
  /** In its lane. */
  waiting: number
  /** Texts that should be delivered, and are neither delivered nor dead-lettered nor counted. */
  missing: string[]
  /**
   * How many deliveries must end as discarded, and how many must wait. `more`: how many there may be in addition,
   * because of unknown publishes.
   */
  expected: { discarded: number; waiting: number; more: number }
  /** Requests for messages that were refused, or that the endpoint's filter does not match. */
  unasked: string[]
  /** Messages that were both delivered and dead-lettered. */
  twice: string[]
  /** Messages that are dead letters, but should have been delivered. */
  wronglyDead: string[]
  /** The number of messages that are dead letters because the provider may have sent them. */
  lostTrack: number
  /** Messages that were taken more than once. Each time after the first counts. */
  duplicates: number
}

export interface Account {
  accepted: number
  unknown: number
  refused: number
  endpoints: Record<string, EndpointAccount>
  counted: Counted
  /** Dead letters that wait for a redrive. */
  toRedrive: number
}

const UNKNOWN = 'outcomeUnknown'

interface LedgerOptions {
  world: World
  messages: PlannedMessage[]
  publishes: Publish[]
  subscriptions: Map<string, Subscribed>
  /** Texts that the consumer of the queue WORKED has received, with how often each came. */
  worked: Map<string, number>
  replicated: boolean
}

interface Places {
  /** By endpoint and text: 2xx answers. */
  delivered: Map<string, Map<string, number>>
  /** By endpoint: texts of all requests. */
  requested: Map<string, Set<string>>
  /** By endpoint: what is in KEPT_QUEUE. */
  kept: Map<string, Letters>
  toRedrive: Map<string, Letters>
  /** By endpoint: deliveries in its lane. */
  waiting: Map<string, number>
}

/** The reason of each dead letter, by its text. */
type Letters = Map<string, string>

export class Ledger {
  readonly #options: LedgerOptions
  readonly #recipients = new Map<string, Set<string>>()

  constructor(options: LedgerOptions) {
    this.#options = options
    for (const message of options.messages) this.#recipients.set(message.text, new Set(recipientsOf(message)))
  }

  async account(): Promise<Account> {
    const { publishes, world } = this.#options
    const places = await this.#places()
    const count = (fate: Publish['fate']) =>
      publishes.filter((publish) => publish.fate === fate).flatMap(({ texts }) => texts).length
    const endpoints: Record<string, EndpointAccount> = {}
    for (const name of Object.keys(ENDPOINTS)) endpoints[name] = this.#accountOf(name, places)
    return {
      accepted: count('accepted'),
      unknown: count('unknown'),
      refused: count('refused'),
      endpoints,
      counted: await sumOfCounts(world),
      toRedrive: [...places.toRedrive.values()].reduce((sum, texts) => sum + texts.size, 0),
    }
  }

  #accountOf(name: string, places: Places): EndpointAccount {
    const delivered = places.delivered.get(name) ?? new Map<string, number>()
    const kept = places.kept.get(name) ?? new Map<string, string>()
    const toRedrive = places.toRedrive.get(name) ?? new Map<string, string>()
    const requested = places.requested.get(name) ?? new Set<string>()
    const { owed, optional, refused } = this.#owedTo(name, places)
    const of = (fate: string, texts: string[]) => texts.filter((text) => fateOf(name, text) === fate)
    const isPlaced = (text: string) => delivered.has(text) || kept.has(text) || toRedrive.has(text)
    const ends = [...of('delivered', owed), ...of('dead', owed), ...of('unknown', owed)]
    const isUnknown = (text: string) => ENDPOINTS[name]?.mayBeUnknown === true && kept.get(text) === UNKNOWN
    return {
      owed: owed.length,
      delivered: delivered.size,
      deadLettered: kept.size,
      waiting: waitingIn(places, name),
      missing: ends.filter((text) => !isPlaced(text)),
      expected: {
        discarded: of('discarded', owed).length,
        waiting: of('waiting', owed).length,
        more: optional.length,
      },
      unasked: [...requested].filter((text) => refused.has(text) || !this.#recipients.get(text)?.has(name)),
      twice: [...delivered.keys()].filter(
        (text) => (kept.has(text) && !isUnknown(text)) || toRedrive.has(text),
      ),
      wronglyDead: [...kept.keys()].filter((text) => fateOf(name, text) !== 'dead' && !isUnknown(text)),
      lostTrack: [...kept.keys()].filter(isUnknown).length,
      duplicates: [...delivered.values()].reduce((sum, times) => sum + times - 1, 0),
    }
  }

  #owedTo(name: string, places: Places) {
    const { publishes, replicated } = this.#options
    const isFor = (text: string) => this.#recipients.get(text)?.has(name) ?? false
    const textsOf = (some: Publish[]) => some.flatMap(({ texts }) => texts).filter(isFor)
    const unknown = publishes.filter(({ fate }) => fate === 'unknown')
    const turnedUp = unknown.filter(({ texts }) => texts.some((text) => isSeen(text, places)))
    const accepted = publishes.filter(({ fate }) => fate === 'accepted')
    return {
      owed: textsOf(replicated ? accepted : [...accepted, ...turnedUp]),
      optional: textsOf(replicated ? unknown : []),
      refused: new Set(textsOf(publishes.filter(({ fate }) => fate === 'refused'))),
    }
  }

  async #places(): Promise<Places> {
    const { world } = this.#options
    const delivered = new Map<string, Map<string, number>>()
    const requested = new Map<string, Set<string>>()
    const deliver = (name: string, text: string) => {
      const texts = entryOf(delivered, name, () => new Map<string, number>())
      texts.set(text, (texts.get(text) ?? 0) + 1)
    }
    for (const { path, text, answered } of world.receiver.requests as ReceivedRequest[]) {
      const name = path.slice(1)
      entryOf(requested, name, () => new Set<string>()).add(text)
      if (answered !== null && answered < 300) deliver(name, text)
    }
    for (const { body } of await queueTexts(world, INBOX)) deliver('inbox', body)
    delivered.set('worked', this.#options.worked)
    for (const [name, record] of Object.entries(world.providers.records())) {
      delivered.set(name, record.delivered)
      requested.set(name, record.requested)
    }
    return {
      delivered,
      requested,
      kept: await this.#deadLetters(KEPT_QUEUE),
      toRedrive: await this.#deadLetters(DEAD_QUEUE),
      waiting: await this.#waiting(),
    }
  }

  async #deadLetters(queue: string): Promise<Map<string, Letters>> {
    const { world, subscriptions } = this.#options
    const nameOf = new Map([...subscriptions].map(([name, { arn }]) => [arn, name]))
    const letters = new Map<string, Letters>()
    for (const { body, deadLetter } of await queueTexts(world, queue)) {
      const name = nameOf.get(deadLetter?.subscriptionArn ?? '') ?? 'nobody'
      const text = ENDPOINTS[name]?.protocol === undefined ? body : (JSON.parse(body).Message as string)
      entryOf(letters, name, () => new Map<string, string>()).set(text, deadLetter?.reason ?? '')
    }
    return letters
  }

  async #waiting(): Promise<Map<string, number>> {
    const { world, subscriptions } = this.#options
    const nameOf = new Map([...subscriptions].map(([name, { id }]) => [id, name]))
    const found = await subscriptionsOf({ client: world.clients[0] }, TOPIC)
    return new Map(found.map(({ id, lane }) => [nameOf.get(id) ?? 'nobody', lane.waiting + lane.inFlight]))
  }
}

/** Rejects an endpoint that the topic does not list, because its lane would look empty. */
function waitingIn({ waiting }: Places, name: string): number {
  const count = waiting.get(name)
  if (count === undefined) throw new Error(`the topic has no subscription of ${name}`)
  return count
}

function isSeen(text: string, places: Places): boolean {
  const sets = [...places.delivered.values(), ...places.kept.values(), ...places.toRedrive.values()]
  return sets.some((texts) => texts.has(text))
}

function entryOf<T>(map: Map<string, T>, key: string, create: () => T): T {
  const known = map.get(key)
  if (known) return known
  const made = create()
  map.set(key, made)
  return made
}
