/**
 * Finds the present settings for the attempt of a claim. They are checked again if they may have changed since the
 * delivery was claimed.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '@fantail/runtime'
import type { MessageContext } from '../messages/message-context.ts'
import { type CompiledSubscription, mayGo } from './compiled-slice.ts'
import { CLAIM_SNAPSHOT_AGE_MS_MAX, type SnapshotCache } from './snapshot-cache.ts'

interface Claimed {
  subscription: CompiledSubscription
  context: MessageContext
  /** When the subscription's settings were last known to be current (performance.now()). */
  checkedAt: number
}

interface Tools {
  snapshots: Pick<SnapshotCache, 'sliceForClaim'>
  log: Pick<Logger, 'debug'>
}

/**
 * The present subscription. Undefined if the claim must not be sent: the subscription was deleted or paused, or has
 * other rates. Also undefined if this cannot be checked, because changes must take effect at once (invariant 6). A
 * promise only if the revision must be checked.
 */
export function currentOf(
  claimed: Claimed,
  tools: Tools,
): CompiledSubscription | undefined | Promise<CompiledSubscription | undefined> {
  const isFresh = performance.now() - claimed.checkedAt < CLAIM_SNAPSHOT_AGE_MS_MAX
  return isFresh ? claimed.subscription : check(claimed, tools)
}

async function check(
  { subscription, context }: Claimed,
  { snapshots, log }: Tools,
): Promise<CompiledSubscription | undefined> {
  try {
    const slice = await snapshots.sliceForClaim(subscription)
    const current = slice?.byId.get(subscription.record.id)
    if (!current || current.record.status === 'paused' || !haveOneThrottle(current, subscription))
      return undefined
    return mayGo(current.record, context.message) ? current : undefined
  } catch (error) {
    log.debug({ err: error, subscriptionId: subscription.record.id }, 'snapshot.read_failed')
    return undefined
  }
}

function haveOneThrottle(a: CompiledSubscription, b: CompiledSubscription): boolean {
  return (
    a.rate === b.rate && isDeepStrictEqual(a.record.groupThrottle ?? null, b.record.groupThrottle ?? null)
  )
}
