/** Lets a subscription get new messages again when the replay that holds them back has ended. */
import {
  FantailError,
  isFifoName,
  objectOf,
  parseArn,
  type RedriveTask,
  type SubscriptionRecord,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { archivedTopics } from '../archive/archives.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import type { Redrives } from './redrives.ts'

/** A FIFO topic has no more subscriptions. */
const HOLDS_READ_MAX = 100

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

/** Ends holds whose process died between the end of their task and the end of the hold. Returns how many. */
export async function sweepHolds(
  redis: Redis,
  {
    subscriptions,
    redrives,
  }: { subscriptions: Pick<Subscriptions, 'list' | 'update'>; redrives: Pick<Redrives, 'get'> },
): Promise<number> {
  let ended = 0
  for (const { arn } of await archivedTopics(redis)) {
    if (!isFifoName(arn)) continue
    const { items } = await subscriptions.list({ topicArn: arn, limit: HOLDS_READ_MAX })
    for (const { arn: source, replay } of items.filter(hasHold)) {
      const task = await redrives.get(replay.task)
      if (task && task.endedAt === null) continue
      await endHold(subscriptions, { id: replay.task, source })
      ended++
    }
  }
  return ended
}

type WithHold = SubscriptionRecord & { replay: NonNullable<SubscriptionRecord['replay']> }

/** Whether the hold ends with its task. The task itself is forgotten after 14 days. */
function hasHold(record: SubscriptionRecord): record is WithHold {
  const { replay } = record
  return Boolean(replay?.holds) && objectOf(replay?.policy ?? '')?.EndingPoint === undefined
}
