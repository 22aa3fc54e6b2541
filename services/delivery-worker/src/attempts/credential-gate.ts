/**
 * Prevents attempts with credentials that are known to be broken (store: own-credentials.ts). A lane that needs such a
 * credential is blocked: it makes no attempt until it may probe the credential, or until the credential works.
 *
 * The worker learns about credentials from its own attempts and from the lanes that it claims. When it is time for a
 * probe, it asks Redis. It may lose this knowledge without harm, because a blocked lane asks again after a minute at
 * most.
 */
import type { AttemptResult } from '@fantail/contracts'
import type { Attempters } from '@fantail/delivery'
import { createStateLog, type Logger, type ReportState } from '@fantail/runtime'
import { type Credentials, type Lanes, passingTime } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'

/** Broken credentials that a worker remembers. Past it: the credential that broke first is forgotten. */
const BROKEN_CREDENTIALS_MAX = 1_000
/** Subscriptions whose credential a worker remembers. Past it: the least recently used one is forgotten. */
const CREDENTIAL_NAMES_MAX = 10_000
/**
 * Lanes that a worker remembers as blocked. Past it: a further lane is not remembered, and asks for its credential at
 * its next probe.
 */
const BLOCKED_LANES_MAX = 10_000
/**
 * A lane waits a little longer than until the probe, because clocks differ. If it came too early, it would have to wait
 * again.
 */
const BLOCKED_MARGIN_MS = 100
/** How long a worker remembers that a broken credential works again. Earlier blocks have reached Redis by then. */
const MENDED_MS = 15_000
/** How long a lane is blocked if Redis did not answer whether the credential works. */
const UNKNOWN_MS = 1_000

/** Why the attempt must wait, and for how long. */
export interface CredentialWait {
  credential: string
  waitMs: number
}

interface Broken {
  /** By passingTime.now(), like `probeAt`. */
  since: number
  probeAt: number
  /** Subscription id → shard. */
  lanes: Map<string, number>
}

interface CredentialGateOptions {
  credentials: Pick<Credentials, 'ask' | 'broke' | 'worked' | 'probeEveryMs'>
  attempters: Attempters
  lanes: Pick<Lanes, 'release'>
  log: Pick<Logger, 'warn' | 'info'>
}

type Subscriber = Pick<CompiledSubscription, 'record' | 'target' | 'shard'>

export class CredentialGate {
  readonly #options: CredentialGateOptions
  readonly #report: ReportState
  readonly #broken = new Map<string, Broken>()
  /** By subscription: the credential that its latest attempt named. */
  readonly #names = new LRUCache<string, string>({ max: CREDENTIAL_NAMES_MAX })
  /** Credentials that lately were broken, and work again. */
  readonly #mended = new LRUCache<string, true>({ max: BROKEN_CREDENTIALS_MAX, ttl: MENDED_MS })
  #blockedLanes = 0

  constructor(options: CredentialGateOptions) {
    this.#options = options
    this.#report = createStateLog({ log: options.log, what: 'credentials', initial: 'up' })
  }

  /** Whether the credential of the subscription is known to be broken. */
  isBlocked(subscription: Subscriber): boolean {
    if (this.#broken.size === 0) return false
    const name = this.#nameOf(subscription)
    return name !== undefined && this.#broken.has(name)
  }

  /**
   * Undefined if the attempt is allowed. `blockedBy`: the broken credential that the lane in Redis names, if one blocks
   * it.
   */
  admit(
    subscription: Subscriber,
    blockedBy?: string,
  ): CredentialWait | undefined | Promise<CredentialWait | undefined> {
    if (this.#broken.size === 0 && blockedBy === undefined) return undefined
    const credential = blockedBy ?? this.#nameOf(subscription)
    const broken = credential === undefined ? undefined : this.#broken.get(credential)
    if (credential === undefined || (!broken && blockedBy === undefined)) return undefined
    const waitMs = broken ? broken.probeAt - passingTime.now() : 0
    if (waitMs > 0) return this.#block(subscription, credential, waitMs)
    return this.#ask(subscription, credential)
  }

  /** Called at the end of every attempt. A response proves that the credential works. */
  ended(subscription: Subscriber, result: AttemptResult): void {
    if (result.kind === 'misconfigured') this.#failed(subscription, result)
    else if (result.kind === 'response' && this.#broken.size > 0)
      this.#answered(subscription, result.durationMs)
  }

  /** How long a lane is blocked after an attempt has failed because of its credential. */
  get blockMs(): number {
    return this.#options.credentials.probeEveryMs + BLOCKED_MARGIN_MS
  }

  /** Called when a broken credential works again. */
  works(credential: string): void {
    const broken = this.#broken.get(credential)
    if (!broken) return
    this.#broken.delete(credential)
    this.#mended.set(credential, true)
    this.#blockedLanes -= broken.lanes.size
    for (const [subscriptionId, shard] of broken.lanes) this.#release(shard, subscriptionId)
  }

  /**
   * Called when Redis has blocked the lane. The credential may have been repaired meanwhile, and the release of the
   * lane may have come before the block. Without another release, the lane would be blocked until its next probe.
   */
  blocked(shard: number, subscriptionId: string, credential: string): void {
    if (this.#mended.has(credential) && !this.#broken.has(credential)) this.#release(shard, subscriptionId)
  }

  #release(shard: number, subscriptionId: string): void {
    this.#options.lanes.release(shard, subscriptionId).then(
      () => this.#report('up'),
      (error) => this.#report('down', error),
    )
  }

  #nameOf({ record, target }: Subscriber): string | undefined {
    return this.#options.attempters[record.protocol].credentialOf?.(target) ?? this.#names.get(record.id)
  }

  async #ask(subscription: Subscriber, credential: string): Promise<CredentialWait | undefined> {
    try {
      const state = await this.#options.credentials.ask(credential)
      this.#report('up')
      if (state === 'works') this.works(credential)
      if (state === 'works') return undefined
      const waitMs = state === 'probe' ? this.#options.credentials.probeEveryMs : state.waitMs
      this.#open(credential).probeAt = passingTime.now() + waitMs
      // An answer to the probe frees the other lanes too.
      if (state === 'probe') this.#names.set(subscription.record.id, credential)
      return state === 'probe' ? undefined : this.#block(subscription, credential, waitMs)
    } catch (error) {
      this.#report('down', error)
      return this.#block(subscription, credential, UNKNOWN_MS)
    }
  }

  #failed(subscription: Subscriber, { credential, detail }: AttemptResult & { kind: 'misconfigured' }): void {
    const { credentials, log } = this.#options
    this.#names.set(subscription.record.id, credential)
    this.#open(credential).probeAt = passingTime.now() + credentials.probeEveryMs
    this.#remember(subscription, credential)
    credentials.broke(credential, detail).then(
      (isNew) => {
        this.#report('up')
        if (isNew) log.warn({ credential, detail }, 'credential.broken')
      },
      (error) => this.#report('down', error),
    )
  }

  /**
   * Called after a response. If the attempt began before the credential broke, the response does not show whether the
   * credential works now.
   */
  #answered(subscription: Subscriber, durationMs: number): void {
    const credential = this.#nameOf(subscription)
    const broken = credential === undefined ? undefined : this.#broken.get(credential)
    if (credential === undefined || !broken || passingTime.now() - durationMs < broken.since) return
    this.worked(credential)
  }

  /** Called when the credential was seen to work, so that all workers use it again. */
  worked(credential: string): void {
    this.works(credential)
    this.#options.credentials.worked(credential).then(
      (wasBroken) => {
        this.#report('up')
        if (wasBroken) this.#options.log.info({ credential }, 'credential.works')
      },
      (error) => this.#report('down', error),
    )
  }

  #open(credential: string): Broken {
    const known = this.#broken.get(credential)
    if (known) return known
    this.#forgetOldest()
    const broken = { since: passingTime.now(), probeAt: 0, lanes: new Map<string, number>() }
    this.#broken.set(credential, broken)
    return broken
  }

  #forgetOldest(): void {
    const [oldest] = this.#broken
    if (!oldest || this.#broken.size < BROKEN_CREDENTIALS_MAX) return
    this.#broken.delete(oldest[0])
    this.#blockedLanes -= oldest[1].lanes.size
  }

  #block(subscription: Subscriber, credential: string, waitMs: number): CredentialWait {
    this.#remember(subscription, credential)
    return { credential, waitMs: waitMs + BLOCKED_MARGIN_MS }
  }

  #remember({ record, shard }: Subscriber, credential: string): void {
    const { lanes } = this.#open(credential)
    if (lanes.has(record.id) || this.#blockedLanes >= BLOCKED_LANES_MAX) return
    lanes.set(record.id, shard)
    this.#blockedLanes++
  }
}
