/** Lets a subscription get new messages again when the replay that holds them back has ended. */
import { FantailError, parseArn, type RedriveTask } from '@fantail/contracts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'

/**
 * Called after the task's end, and by whoever has written the hold. Whichever is later ends the hold. A replay with an
 * end of its own goes on to hold.
 */
export async function releaseEnded(
  subscriptions: Pick<Subscriptions, 'update'>,
  {
    id,
    source,
    action,
    endedAt,
    filter,
  }: Pick<RedriveTask, 'id' | 'source' | 'action' | 'endedAt' | 'filter'>,
): Promise<void> {
  if (action !== 'resend' || endedAt === null || filter?.until !== undefined) return
  try {
    await endHold(subscriptions, { id, source })
  } catch (error) {
    if (!(error instanceof FantailError && error.code === 'not_found')) throw error
  }
}

/** Throws `not_found` if the subscription is gone. */
export async function endHold(
  subscriptions: Pick<Subscriptions, 'update'>,
  { id, source }: Pick<RedriveTask, 'id' | 'source'>,
): Promise<void> {
  await subscriptions.update(parseArn(source)?.subscriptionId ?? '', ({ replay }) =>
    replay?.task === id && replay.holds ? { replay: { ...replay, holds: false } } : {},
  )
}
