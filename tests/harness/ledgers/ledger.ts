/**
 * Checks a run against invariant 2: for every subscription, every accepted message is delivered, dead-lettered,
 * discarded, expired, in quarantine or still waiting. None is lost.
 *
 * Each message has a unique text, and each subscription is a raw webhook at its own path. An arrival, a dead letter and
 * a publish can therefore be matched, even if the publisher never learned the message's id.
 *
 * A publish is *accepted* (202), *refused* (certainly not stored) or *unknown* (no answer, or a 503 that says so). An
 * unknown message must reach all subscriptions or none.
 */
import { Counts, Quarantine } from '@fantail/store'
import { type ReceivedRequest, type Receiver, startFairTimer, waitFor } from '@fantail/test-kit'
import type { ErrorBody } from '../services/rest-client.ts'
import type { Stack } from '../services/stack.ts'
import { timesBy } from './times-of-requests.ts'
import { describeUnplaced, type Unplaced } from './unplaced.ts'

interface LedgerOptions {
  stack: Stack
  receiver: Receiver
  topic: string
  /**
   * One subscription for each path of the receiver, with settings as the API takes them. `recovered` does not wait for
   * a subscription with another `endpoint`.
   */
  subscriptions: Record<string, Record<string, unknown>>
  /** Dead-letter queue of the subscriptions. It is created here. */
  deadLetterQueue?: string
  /** Dead letters go to the topic's own queue. */
  ownDeadLetterQueue?: boolean
  /** Arrivals at other receivers of the test that were answered 2xx: `<path> <text>`, each as often as it came. */
  elsewhere?: () => string[]
  /**
   * Unknown messages need not arrive anywhere. A failover may lose what no replica had confirmed, after some
   * subscriptions got it.
   */
  acknowledgedOnly?: boolean
  /**
   * Repeats publishes that were not accepted, with an `Idempotency-Key`, as clients do: a busy machine may answer 503.
   * It gives up after 10 s. Waits for a processor do not count. `failures` has each answer.
   */
  again?: boolean
}

interface Subscribed {
  id: string
  arn: string
  path: string
  /** Whether its endpoint is the receiver. */
  here: boolean
}

export interface Account {
  accepted: number
  unknown: number
  refused: number
  /**
   * Number of deliveries that must be accounted for: of accepted messages, and of unknown ones that were stored after
   * all.
   */
  owed: number
  delivered: number
  deadLettered: number
  discarded: number
  expired: number
  quarantined: number
  waiting: number
  lost: number
  /** Deliveries beyond the first of each message that was answered 2xx. */
  duplicates: number
  /** Deliveries of messages that were certainly refused. It must be 0. */
  refusedYetSeen: number
}

type Fate = 'accepted' | 'refused' | 'unknown'

const DISCARDED = 'discarded:'
/**
 * Only text messages end with this reason. The ledger of direct messages counts them, and compares them with the
 * requests at their provider.
 */
const OF_TEXT_MESSAGES = 'discarded:outcomeUnknown'
const PAGE = 100
const AGAIN_EVERY_MS = 100
const AGAIN_MS_MAX = 10_000

/** A third of the time after which a command to Redis fails. */
const STARVED_MS = 500

interface Failure {
  status: number
  code: string
  retryAfter: string | undefined
  /** Duration without waits for a processor. */
  tookMs: number
  /** For a processor. */
  waitedMs: number
}

interface PublishingAtRate {
  count: number
  perSecond: number
  /** Beginning of each message's text. Default: `m`. */
  prefix?: string
  until?: () => boolean
}

export class Ledger {
  readonly subscriptions: Subscribed[] = []
  readonly fates = new Map<string, Fate>()
  /** By performance.now(). */
  readonly acceptedAt = new Map<string, number>()
  /** Texts whose publish has no answer yet. */
  readonly unanswered = new Set<string>()
  /** Errors of refused and unknown publishes, in order. */
  readonly failures: Failure[] = []
  readonly #options: LedgerOptions
  /** Message ids of accepted texts. */
  readonly #ids = new Map<string, string>()
  #countsBefore: Record<string, number> = {}

  private constructor(options: LedgerOptions) {
    this.#options = options
  }

  /** Creates the topic, its subscriptions and their queue. */
  static async open(options: LedgerOptions): Promise<Ledger> {
    const { stack, receiver, topic, deadLetterQueue } = options
    const { client } = stack
    const ledger = new Ledger(options)
    await client.put(`/v1/topics/${topic}`)
    if (deadLetterQueue !== undefined) await client.put(`/v1/queues/${deadLetterQueue}`)
    // Without a queue, failed deliveries are discarded, as over the AWS protocols. The account then shows them.
    const redrivePolicy = deadLetterQueue === undefined ? null : { deadLetterTargetArn: deadLetterQueue }
    for (const [path, settings] of Object.entries(options.subscriptions)) {
      const input = {
        endpoint: `${receiver.url}${path}`,
        rawMessageDelivery: true,
        redrivePolicy,
        ...settings,
      }
      const { id, arn } = await client.post<Subscribed>(`/v1/topics/${topic}/subscriptions`, input)
      ledger.subscriptions.push({ id, arn, path, here: settings.endpoint === undefined })
    }
    ledger.#countsBefore = await new Counts(stack.connection).read()
    return ledger
  }

  /** Publishes one text through the API. */
  async publish(text: string): Promise<Fate> {
    this.unanswered.add(text)
    let { fate, tookMs } = await this.#publish(text)
    for (let ms = tookMs; this.#options.again && fate !== 'accepted' && ms < AGAIN_MS_MAX; ) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_EVERY_MS))
      ;({ fate, tookMs } = await this.#publish(text))
      ms += AGAIN_EVERY_MS + tookMs
    }
    this.fates.set(text, fate)
    if (fate === 'accepted') this.acceptedAt.set(text, performance.now())
    this.unanswered.delete(text)
    return fate
  }

  /**
   * Publishes `count` messages at a steady rate, whatever the API answers, and then more until `until` is true, because
   * on a busy machine the fault may take longer. Resolves when all are answered.
   */
  async publishAtRate(options: PublishingAtRate): Promise<void> {
    const { count, perSecond, prefix = 'm', until = () => true } = options
    const pauseMs = Math.max(5, 500 / perSecond)
    const startedAt = performance.now()
    const open: Promise<unknown>[] = []
    for (let n = 0, isOver = until(); n < count || !isOver; isOver = until()) {
      const max = isOver ? count : Number.POSITIVE_INFINITY
      const due = Math.min(max, Math.ceil(((performance.now() - startedAt) / 1_000) * perSecond))
      for (; n < due; n++) open.push(this.publish(`${prefix}${n}`))
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    await Promise.all(open)
  }

  /** Failures, except failures that happen because Redis answers too late on a busy machine. */
  ownFailures(): Failure[] {
    return this.failures.filter(
      ({ code, waitedMs }) => code !== 'storage_unavailable' || waitedMs < STARVED_MS,
    )
  }

  count(fate: Fate): number {
    return [...this.fates.values()].filter((value) => value === fate).length
  }

  async account(): Promise<Account> {
    const { delivered, arrivals } = this.#arrivals()
    const dead = await this.deadLetters()
    const counts = await this.#countsSince()
    const waiting = await this.waiting()
    const placed = new Set([...delivered, ...dead])
    const quarantined = await this.#quarantined(placed)
    const owed = this.#owedTexts(placed).length * this.subscriptions.length
    const fateOf = (key: string) => this.fates.get(textOf(key))
    const ended = [...placed].filter((key) => this.#isOwed(fateOf(key))).length
    const { discarded, expired } = counts
    return {
      accepted: this.count('accepted'),
      unknown: this.count('unknown'),
      refused: this.count('refused'),
      owed,
      delivered: delivered.size,
      deadLettered: dead.size,
      discarded,
      expired,
      quarantined,
      waiting,
      lost: owed - ended - discarded - expired - quarantined - waiting,
      duplicates: arrivals - delivered.size,
      refusedYetSeen: [...placed].filter((key) => fateOf(key) === 'refused').length,
    }
  }

  /**
   * Resolves with the account once nothing waits and nothing is missing. Rejects with the account if that never
   * happens.
   */
  async whenSettled({ timeoutMs = 30_000, waiting = 0 } = {}): Promise<Account> {
    let account: Account | undefined
    // While deliveries wait, the account is not read, because it contains all dead letters.
    const isSettled = async () => {
      if ((await this.waiting().catch(() => undefined)) !== waiting) return false
      account = await this.account().catch(() => undefined)
      return account !== undefined && account.waiting === waiting && account.lost === 0
    }
    try {
      await waitFor(isSettled, { what: 'every delivery to have ended', timeoutMs, intervalMs: 200 })
    } catch (cause) {
      account = await this.account().catch(() => account)
      throw new Error(await this.#notSettled(account), { cause })
    }
    if (!account) throw new Error('no account')
    return account
  }

  /**
   * Publishes until a message is accepted, and waits until it has arrived everywhere. Resolves with the seconds since
   * `since` (performance.now()).
   */
  async recovered(since: number, timeoutMs = 60_000): Promise<number> {
    const wait = { timeoutMs, intervalMs: 20 }
    const { receiver } = this.#options
    const text = await waitFor(
      async () => {
        const text = `again-${performance.now()}`
        return (await this.publish(text)) === 'accepted' && text
      },
      { ...wait, what: 'a publish to be accepted again' },
    )
    const paths = new Set(this.subscriptions.filter(({ here }) => here).map(({ path }) => path))
    const isFresh = (request: ReceivedRequest) => request.text === text && paths.has(request.path)
    await waitFor(() => new Set(receiver.requestsTo(isFresh).map(({ path }) => path)).size === paths.size, {
      ...wait,
      what: 'a fresh message to arrive everywhere',
    })
    return (performance.now() - since) / 1_000
  }

  /** Deliveries of accepted messages that have not arrived: `<path> <text>`. */
  missing(): string[] {
    const { delivered } = this.#arrivals()
    const accepted = [...this.fates].filter(([, fate]) => fate === 'accepted').map(([text]) => text)
    return this.subscriptions
      .flatMap(({ path }) => accepted.map((text) => `${path} ${text}`))
      .filter((key) => !delivered.has(key))
  }

  /** When deliveries came that were answered 2xx (epoch ms), by `<path> <text>`. */
  arrivals(): Map<string, number[]> {
    return timesBy(this.#taken(), keyOf)
  }

  /** Deliveries that wait or are in flight in the lanes of the subscriptions. */
  async waiting(): Promise<number> {
    const { stack, topic } = this.#options
    const own = new Set(this.subscriptions.map(({ id }) => id))
    let sum = 0
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const path = `/v1/topics/${topic}/subscriptions?limit=${PAGE}${query}`
      const page: LanePage = await stack.client.get(path)
      for (const { id, lane } of page.subscriptions) if (own.has(id)) sum += lane.waiting + lane.inFlight
      cursor = page.nextCursor
    }
    return sum
  }

  /** Letters in the dead-letter queue: `<path> <text>`. */
  async deadLetters(): Promise<Set<string>> {
    const { stack, topic, ownDeadLetterQueue } = this.#options
    const deadLetterQueue = ownDeadLetterQueue ? `${topic}-dead-letters` : this.#options.deadLetterQueue
    const found = new Set<string>()
    if (deadLetterQueue === undefined) return found
    if (
      ownDeadLetterQueue &&
      (await stack.client.call('GET', `/v1/queues/${deadLetterQueue}`)).status === 404
    )
      return found
    const pathOf = new Map(this.subscriptions.map(({ arn, path }) => [arn, path]))
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`
      const page: DeadLetterPage = await stack.client.get(`/v1/queues/${deadLetterQueue}/messages${query}`)
      for (const { body, deadLetter } of page.messages) {
        const path = pathOf.get(deadLetter.subscriptionArn)
        if (path !== undefined) found.add(`${path} ${body}`)
      }
      cursor = page.nextCursor
    }
    return found
  }

  async #notSettled(account: Account | undefined): Promise<string> {
    const unplaced = await this.#unplaced()
    const described = await describeUnplaced(this.#options.stack.api, unplaced)
    return `not settled: ${JSON.stringify(account)}\n${described}`
  }

  /** Deliveries that are owed, have not arrived and are no dead letters. Lists no dead letters if the API is away. */
  async #unplaced(): Promise<Unplaced[]> {
    const dead = await this.deadLetters().catch(() => new Set<string>())
    const placed = new Set([...this.#arrivals().delivered, ...dead])
    const texts = this.#owedTexts(placed)
    return this.subscriptions.flatMap(({ id: subscriptionId, path }) =>
      texts
        .map((text) => ({ key: `${path} ${text}`, subscriptionId, messageId: this.#ids.get(text) }))
        .filter(({ key }) => !placed.has(key)),
    )
  }

  #isOwed(fate: Fate | undefined): boolean {
    return fate !== 'refused' && !(this.#options.acknowledgedOnly && fate === 'unknown')
  }

  /** Texts for which deliveries must exist: the accepted ones, and unknown ones that were stored. */
  #owedTexts(placed: Set<string>): string[] {
    const seen = new Set([...placed].map(textOf))
    const isStored = (text: string, fate: Fate) => fate === 'accepted' || seen.has(text)
    return [...this.fates]
      .filter(([text, fate]) => this.#isOwed(fate) && isStored(text, fate))
      .map(([text]) => text)
  }

  async #publish(text: string): Promise<{ fate: Fate; tookMs: number }> {
    const time = { tookMs: 0, waitedMs: 0 }
    const fate = await this.#publishTimed(text, time)
    return { fate, tookMs: time.tookMs }
  }

  /** Sets `time` when the publish has its answer. */
  async #publishTimed(text: string, time: Pick<Failure, 'tookMs' | 'waitedMs'>): Promise<Fate> {
    const { stack, topic, again } = this.#options
    const headers: Record<string, string> = again ? { 'idempotency-key': text } : {}
    const [from, took] = [performance.now(), startFairTimer(stack.api.pid)]
    const path = `/v1/topics/${topic}/messages`
    const call = stack.client.call('POST', path, { headers, body: { message: text } })
    const ended = call.finally(() => {
      time.tookMs = took()
      time.waitedMs = performance.now() - from - time.tookMs
    })
    const fail = (status: number, code: string, retryAfter?: string) =>
      this.failures.push({ status, code, retryAfter, ...time })
    try {
      const answer = await ended
      if (answer.status === 202) {
        this.#ids.set(text, (answer.body as { messageId: string }).messageId)
        return 'accepted'
      }
      const { error } = answer.body as ErrorBody
      fail(answer.status, error.code, String(answer.headers['retry-after'] ?? ''))
      return /may or may not|may be lost/.test(error.message) ? 'unknown' : 'refused'
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      fail(0, String(code))
      // No process was listening, so the request was never sent.
      return code === 'ECONNREFUSED' ? 'refused' : 'unknown'
    }
  }

  /** Deliveries that were answered 2xx, as `<path> <text>`, and the number of such answers. */
  #arrivals(): { delivered: Set<string>; arrivals: number } {
    const keys = [...this.#taken().map(keyOf), ...(this.#options.elsewhere?.() ?? [])]
    return { delivered: new Set(keys), arrivals: keys.length }
  }

  /** Requests of this ledger's deliveries that were answered 2xx. */
  #taken(): ReceivedRequest[] {
    const paths = new Set(this.subscriptions.map(({ path }) => path))
    return this.#options.receiver.requests.filter(
      ({ path, text, answered }) =>
        paths.has(path) && this.fates.has(text) && answered !== null && answered < 300,
    )
  }

  async #countsSince(): Promise<{ discarded: number; expired: number }> {
    const now = await new Counts(this.#options.stack.connection).read()
    const since = (cause: string) => (now[cause] ?? 0) - (this.#countsBefore[cause] ?? 0)
    const causes = Object.keys(now).filter(
      (cause) => cause.startsWith(DISCARDED) && cause !== OF_TEXT_MESSAGES,
    )
    return { discarded: causes.reduce((sum, cause) => sum + since(cause), 0), expired: since('expired') }
  }

  /**
   * Number of deliveries in the quarantine. An entry either has the text of an accepted message, or only names a
   * subscription.
   */
  async #quarantined(placed: Set<string>): Promise<number> {
    const quarantine = new Quarantine(this.#options.stack.connection)
    const texts = [...this.fates].filter(([, fate]) => fate === 'accepted').map(([text]) => text)
    const found = new Set<string>()
    for (let cursor: string | undefined; ; ) {
      const page = await quarantine.list({ cursor, limit: PAGE })
      for (const { id, subscriptionId, rawBytes } of page.items) {
        const raw = String((await quarantine.raw(id)) ?? '')
        const meant = this.subscriptions.filter((one) => subscriptionId === null || subscriptionId === one.id)
        for (const { path } of meant) {
          if (rawBytes === 0) found.add(id)
          for (const text of texts)
            if (raw.includes(JSON.stringify(text)) && !placed.has(`${path} ${text}`))
              found.add(`${path} ${text}`)
        }
      }
      if (page.nextCursor === null) return found.size
      cursor = page.nextCursor
    }
  }
}

const keyOf = ({ path, text }: ReceivedRequest) => `${path} ${text}`

/** Returns the text of a key `<path> <text>`. */
function textOf(key: string): string {
  return key.slice(key.indexOf(' ') + 1)
}

interface LanePage {
  subscriptions: { id: string; lane: { waiting: number; inFlight: number } }[]
  nextCursor: string | null
}

interface DeadLetterPage {
  messages: { body: string; deadLetter: { subscriptionArn: string } }[]
  nextCursor: string | null
}
