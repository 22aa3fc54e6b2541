/**
 * Pauses subscriptions whose endpoints answer 410 (Gone). Waiting deliveries stay in their lanes until somebody resumes
 * the subscription, or until they are too old.
 */
import { FantailError, type SubscriptionRecord } from '@fantail/contracts'
import type { Logger } from '@fantail/runtime'
import type { Subscriptions } from '@fantail/store'

interface GoneEndpointsOptions {
  subscriptions: Pick<Subscriptions, 'update'>
  log: Pick<Logger, 'warn' | 'error'>
}

/** The subscription as it was when the attempt began. */
type Answering = Pick<SubscriptionRecord, 'id' | 'topicArn' | 'endpoint' | 'resumes'>

export class GoneEndpoints {
  readonly #options: GoneEndpointsOptions
  /** Many attempts at an endpoint may end at the same time. By subscription. */
  readonly #running = new Map<string, Promise<boolean>>()

  constructor(options: GoneEndpointsOptions) {
    this.#options = options
  }

  /** Never rejects. Returns false if Redis refused the change, so that the next attempt must try it again. */
  pause(subscription: Answering): Promise<boolean> {
    const { id } = subscription
    const running = this.#running.get(id)
    if (running) return running
    const pausing = this.#pause(subscription).finally(() => this.#running.delete(id))
    this.#running.set(id, pausing)
    return pausing
  }

  async #pause({ id, topicArn, endpoint, resumes = 0 }: Answering): Promise<boolean> {
    const { subscriptions, log } = this.#options
    let isNew = false
    try {
      await subscriptions.update(id, (current) => {
        const isSame = current.endpoint === endpoint && (current.resumes ?? 0) === resumes
        isNew = isSame && current.status === 'active' && !current.unsubscribed
        return isNew ? { status: 'paused', pausedBecause: 'gone' } : {}
      })
    } catch (error) {
      // A deleted subscription needs no pause: its deliveries leave its lane.
      if (error instanceof FantailError && error.code === 'not_found') return true
      log.error({ subscriptionId: id, err: error }, 'subscription.pause_failed')
      return false
    }
    if (isNew) log.warn({ topicArn, subscriptionId: id, statusCode: 410 }, 'subscription.gone')
    return true
  }
}
