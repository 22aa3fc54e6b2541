/**
 * Reads platform applications and endpoints for push attempts, and changes them.
 *
 * When an endpoint is disabled, an event must be published to its application. The endpoint's record has a note until
 * that is done. If the worker dies before, the delivery is attempted again, and that attempt publishes the event.
 */
import {
  eventTopicOf,
  type PlatformApplicationRecord,
  type PlatformEndpointRecord,
  SNAPSHOT_AGE_MS_MAX,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { PlatformApplications } from './platform-applications.ts'
import { PlatformEndpoints } from './platform-endpoints.ts'

interface PushStateOptions {
  /** Called when an endpoint was disabled. */
  onDisabled(endpoint: PlatformEndpointRecord): void
  /** Publishes the event EndpointUpdated. Rejects if that must be tried again. */
  publishUpdated(endpoint: PlatformEndpointRecord, application: PlatformApplicationRecord): Promise<void>
}

export class MobilePushState {
  readonly #endpoints: PlatformEndpoints
  readonly #applicationReads: BriefReads<PlatformApplicationRecord | null>
  readonly #endpointReads: BriefReads<PlatformEndpointRecord | null>
  readonly #options: PushStateOptions

  constructor(redis: Redis, options: PushStateOptions) {
    const applications = new PlatformApplications(redis)
    this.#endpoints = new PlatformEndpoints(redis)
    this.#applicationReads = new BriefReads((arn) => applications.get(arn))
    this.#endpointReads = new BriefReads((arn) => this.#endpoints.get(arn))
    this.#options = options
  }

  application(arn: string): Promise<PlatformApplicationRecord | null> {
    return this.#applicationReads.get(arn)
  }

  endpoint(arn: string): Promise<PlatformEndpointRecord | null> {
    return this.#endpointReads.get(arn)
  }

  /** Disables an endpoint whose provider refuses the token. Rejects if this, or the event, must be tried again. */
  async disable(
    { arn, token }: PlatformEndpointRecord,
    application: PlatformApplicationRecord,
  ): Promise<void> {
    const isEventOwed = eventTopicOf(application, 'EndpointUpdated') !== undefined
    const disabled = await this.#endpoints.disable(arn, { token, isEventOwed })
    this.#endpointReads.forget(arn)
    if (!disabled) return
    this.#options.onDisabled(disabled)
    await this.publishOwed(disabled, application)
  }

  /** Publishes the event about the disabled endpoint, if that has not been done. Rejects if it must be tried again. */
  async publishOwed(endpoint: PlatformEndpointRecord, application: PlatformApplicationRecord): Promise<void> {
    if (!endpoint.isEventOwed) return
    await this.#options.publishUpdated(endpoint, application)
    await this.#endpoints.eventPublished(endpoint.arn)
    this.#endpointReads.forget(endpoint.arn)
  }
}

/**
 * Records of mobile push that a process keeps for a moment. Past it: they are read again. The limit holds separately
 * for applications and for endpoints.
 */
const BRIEF_READS_MAX = 2_000

interface BriefRead<T> {
  result: Promise<T>
  /** When the read began. */
  at: number
}

/**
 * Shares reads of records that many attempts need at about the same time. A result is used for at most
 * SNAPSHOT_AGE_MS_MAX. A change by another process therefore takes effect as fast as the change of a subscription.
 */
export class BriefReads<T> {
  readonly #read: (key: string) => Promise<T>
  readonly #now: () => number
  readonly #known = new LRUCache<string, BriefRead<T>>({ max: BRIEF_READS_MAX })

  /** `now`: monotonic ms. */
  constructor(read: (key: string) => Promise<T>, now: () => number = () => performance.now()) {
    this.#read = read
    this.#now = now
  }

  /** The record. Rejects if the read does. A failure is not cached. */
  get(key: string): Promise<T> {
    const known = this.#known.get(key)
    if (known && this.#now() - known.at < SNAPSHOT_AGE_MS_MAX) return known.result
    const made = { result: this.#read(key), at: this.#now() }
    this.#known.set(key, made)
    made.result.catch(() => {
      if (this.#known.peek(key) === made) this.#known.delete(key)
    })
    return made.result
  }

  /** Called when this process has changed the record. */
  forget(key: string): void {
    this.#known.delete(key)
  }
}
