/**
 * Switches a subscription between AWS and Fantail. A step begins only if at least one side is on, and turns a side off
 * only when the other is on. A kill between two steps therefore loses nothing, and the next run goes on from the state
 * that it finds:
 *
 *   AWS on, Fantail paused ─ discard what waits, resume ─▶ both on ─ switch AWS off ─▶ Fantail alone
 *   Fantail alone ─ switch AWS on ─▶ both on ─ wait until SNS surely delivers, pause ─▶ AWS on, Fantail paused
 *
 * The messages in the paused lane were published while AWS was on, so AWS delivers them, with all its retries. While
 * both are on, a message comes twice, with the same id.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { SetSubscriptionAttributesCommand } from '@aws-sdk/client-sns'
import {
  type Client,
  getSubscription,
  pauseSubscription,
  purgeSubscription,
  resumeSubscription,
  type Subscription,
} from '@fantail/client/api'
import type { AwsTopic } from './aws-topic.ts'
import { filterOfHere, isOff, OFF_POLICY, type Pair } from './subscription-pairs.ts'

/** How long SNS may take until a changed filter policy has its full effect, as AWS documents it. */
const SNS_SETTLE_SECONDS = 900
/** Pause between two looks at a lane. */
const LANE_LOOK_MS = 500

export interface CutoverTools {
  topic: AwsTopic
  client: Client
  signal: AbortSignal
}

/** The times between which a published message may come twice. null: nothing was switched. */
export interface Twice {
  from: Date
  until: Date
}

/** Switches to Fantail. Resolves with null if that was done before. */
export async function cutOver({ client, topic }: CutoverTools, { aws, here }: Pair): Promise<Twice | null> {
  const path = { id: here.id }
  const from = new Date()
  if (here.status === 'paused') {
    // A paused lane beside a subscription that is off at AWS has the only copies.
    if (!isOff(aws)) await purgeSubscription({ client, path })
    await resumeSubscription({ client, path })
  }
  if (isOff(aws)) return null
  await setFilter(topic, aws.arn, OFF_POLICY)
  return { from, until: new Date(Date.now() + SNS_SETTLE_SECONDS * 1_000) }
}

/** Switches AWS on again. Fantail goes on until `leaveFantail`. */
export async function returnToAws({ client, topic }: CutoverTools, { aws, here }: Pair): Promise<void> {
  if (!isOff(aws)) return
  if (here.status === 'paused') await resumeSubscription({ client, path: { id: here.id } })
  await setFilter(topic, aws.arn, filterOfHere(here))
}

/**
 * Pauses the subscription when all that waits was published after `since`, when AWS was surely on. Resolves with false
 * if older messages still wait at `until`. It is then active, so that they are delivered.
 */
export async function leaveFantail(
  { client, signal }: CutoverTools,
  { here }: Pair,
  { since, until }: { since: number; until: number },
): Promise<boolean> {
  const path = { id: here.id }
  for (;;) {
    if (!hasOlder(await getSubscription({ client, path }), since)) {
      await pauseSubscription({ client, path })
      if (!hasOlder(await settled({ client, signal }, here.id), since)) return true
      await resumeSubscription({ client, path })
    }
    if (Date.now() > until) return false
    await delay(LANE_LOOK_MS, undefined, { signal })
  }
}

function hasOlder({ lane }: Subscription, since: number): boolean {
  const { oldestWaitingSeconds } = lane
  return oldestWaitingSeconds !== null && Date.now() - oldestWaitingSeconds * 1_000 < since
}

/** The paused subscription when its last attempts have ended. A failed one waits in the lane again. */
async function settled({ client, signal }: Pick<CutoverTools, 'client' | 'signal'>, id: string) {
  for (;;) {
    const subscription = await getSubscription({ client, path: { id } })
    if (subscription.lane.inFlight === 0) return subscription
    await delay(LANE_LOOK_MS, undefined, { signal })
  }
}

async function setFilter({ sns }: AwsTopic, SubscriptionArn: string, AttributeValue: string): Promise<void> {
  const AttributeName = 'FilterPolicy'
  await sns.send(new SetSubscriptionAttributesCommand({ SubscriptionArn, AttributeName, AttributeValue }))
}
