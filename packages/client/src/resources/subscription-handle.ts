/** Subscriptions of every kind: settings, state, lane, signing keys. */
import type { Client } from '../generated/client/index.ts'
import {
  type ConfirmInput,
  type CreatedWebhookKey,
  confirmSubscription,
  createWebhookKey,
  deleteSubscription,
  deleteWebhookKeys,
  getSubscription,
  type LanePurgeResult,
  type ListSubscriptionsData,
  listSubscriptions,
  listWebhookKeys,
  pauseSubscription,
  purgeSubscription,
  type Redrive,
  type ResendDryRun,
  type ResendSinceInput,
  type RetryNowInput,
  type RetryNowResult,
  resendSince,
  resumeSubscription,
  retryNow,
  type Subscription,
  type SubscriptionInput,
  sendConfirmation,
  type TestAttempt,
  type TestInput,
  testSubscription,
  updateSubscription,
  type WebhookKey,
  type WebhookKeyInput,
} from '../generated/index.ts'
import type { CallOptions } from '../transport/core-request.ts'
import { Listing } from './listing.ts'

export type SubscriptionFilter = Omit<NonNullable<ListSubscriptionsData['query']>, 'cursor'>

export class SubscriptionHandle {
  readonly id: string
  readonly #at: { client: Client; path: { id: string } }

  constructor(client: Client, id: string) {
    this.id = id
    this.#at = { client, path: { id } }
  }

  get(options?: CallOptions): Promise<Subscription> {
    return getSubscription({ ...this.#at, ...options })
  }

  update(changes: SubscriptionInput, options?: CallOptions): Promise<Subscription> {
    return updateSubscription({ ...this.#at, ...options, body: changes })
  }

  /** Discards what waits. */
  async delete(options?: CallOptions): Promise<void> {
    await deleteSubscription({ ...this.#at, ...options })
  }

  pause(options?: CallOptions): Promise<Subscription> {
    return pauseSubscription({ ...this.#at, ...options })
  }

  resume(options?: CallOptions): Promise<Subscription> {
    return resumeSubscription({ ...this.#at, ...options })
  }

  confirm(confirmation: ConfirmInput, options?: CallOptions): Promise<Subscription> {
    return confirmSubscription({ ...this.#at, ...options, body: confirmation })
  }

  /** Asks the endpoint again. */
  sendConfirmation(options?: CallOptions): Promise<Subscription> {
    return sendConfirmation({ ...this.#at, ...options })
  }

  /** Makes waiting retries due now. */
  retry(settings?: RetryNowInput, options?: CallOptions): Promise<RetryNowResult> {
    return retryNow({ ...this.#at, ...options, body: settings })
  }

  /** Starts a task that resends the messages kept since a time. `fantail.redrives(id)` follows it. */
  resend(settings: ResendSinceInput, options?: CallOptions): Promise<Redrive> {
    return resendSince({ ...this.#at, ...options, body: { ...settings, dryRun: false } }) as Promise<Redrive>
  }

  /** Counts the messages that such a task would resend. */
  countResend(settings: ResendSinceInput, options?: CallOptions): Promise<ResendDryRun> {
    const body = { ...settings, dryRun: true }
    return resendSince({ ...this.#at, ...options, body }) as Promise<ResendDryRun>
  }

  /** Discards the deliveries that wait. */
  purge(options?: CallOptions): Promise<LanePurgeResult> {
    return purgeSubscription({ ...this.#at, ...options })
  }

  /** Makes one attempt now, outside of the lane. */
  test(content?: TestInput, options?: CallOptions): Promise<TestAttempt> {
    return testSubscription({ ...this.#at, ...options, body: content })
  }

  /** Makes a new key for signatures of Standard Webhooks. Only this answer contains its secret. */
  createWebhookKey(settings?: WebhookKeyInput, options?: CallOptions): Promise<CreatedWebhookKey> {
    return createWebhookKey({ ...this.#at, ...options, body: settings })
  }

  async webhookKeys(options?: CallOptions): Promise<WebhookKey[]> {
    return (await listWebhookKeys({ ...this.#at, ...options })).webhookKeys
  }

  async deleteWebhookKeys(options?: CallOptions): Promise<void> {
    await deleteWebhookKeys({ ...this.#at, ...options })
  }
}

export interface SubscriptionsOf {
  (id: string): SubscriptionHandle
  list(filter?: SubscriptionFilter, options?: CallOptions): Listing<Subscription>
}

export function subscriptionsOf(client: Client): SubscriptionsOf {
  const list = (filter: SubscriptionFilter = {}, options?: CallOptions) =>
    new Listing(async (cursor) => {
      const page = await listSubscriptions({ client, ...options, query: { ...filter, cursor } })
      return { items: page.subscriptions, nextCursor: page.nextCursor }
    })
  return Object.assign((id: string) => new SubscriptionHandle(client, id), { list })
}
