/**
 * Switches a subscription between AWS and Fantail. A step begins only if at least one side is on, and turns a side off
 * only when the other is on. A kill between two steps therefore loses nothing, and the next run goes on from the state
 * that it finds:
 *
 *   AWS on, Fantail paused ─ discard what waits, resume, mark ─▶ both on ─ switch AWS off ─▶ Fantail alone
 *   Fantail alone ─ switch AWS on ─▶ both on ─ wait for SNS, bridge and lane, pause, unmark ─▶ AWS on, Fantail paused
 *
 * The messages in the paused lane were published while AWS was on, so AWS delivers them, with all its retries. That
 * holds only without the mark, which is in the metadata of the subscription: a marked lane may have the only copies,
 * and is never purged. While both are on, a message comes twice, with the same id.
 */
import { SetSubscriptionAttributesCommand } from '@aws-sdk/client-sns'
import {
  type Client,
  getSubscription,
  pauseSubscription,
  purgeSubscription,
  resumeSubscription,
  type Subscription,
  updateSubscription,
} from '@fantail/client/api'
import type { AwsTopic } from '../aws-topic.ts'
import { filterOfHere, isAlone, isOff, markedAlone, OFF_POLICY, type Pair } from '../subscription-pairs.ts'

/** How long SNS may take until a changed filter policy has its full effect, as AWS documents it. */
const SNS_SETTLE_SECONDS = 900
/** Messages that wait in a lane. Past it: the age of the oldest of them is not known for sure. */
const SURE_WAITING_MAX = 10

export interface CutoverTools {
  client: Client
  signal: AbortSignal
}

/** The times between which a published message may come twice. null: nothing was switched. */
export interface Twice {
  from: Date
  until: Date
}

/** Whether AWS delivers everything that waits in the paused lane. Without a bridge it was published at Fantail. */
export function isDiscarded({ aws, here }: Pair, hasBridge: boolean): boolean {
  return hasBridge && here.status === 'paused' && !isOff(aws) && !isAlone(here)
}

/** Switches to Fantail. Resolves with null if that was done before. */
export async function cutOver(
  { client }: CutoverTools,
  pair: Pair,
  hasBridge: boolean,
): Promise<Twice | null> {
  const { aws, here, topic } = pair
  const path = { id: here.id }
  const from = new Date()
  if (isDiscarded(pair, hasBridge)) await purgeSubscription({ client, path })
  if (here.status === 'paused') await resumeSubscription({ client, path })
  if (!isAlone(here)) await mark(client, here.id, true)
  if (isOff(aws)) return null
  await setFilter(topic, aws.arn, OFF_POLICY)
  return { from, until: new Date(Date.now() + SNS_SETTLE_SECONDS * 1_000) }
}

/** Switches AWS on again. Fantail goes on until `leaveFantail`, also if an earlier run had just paused it. */
export async function returnToAws({ client }: CutoverTools, { aws, here, topic }: Pair): Promise<void> {
  if (here.status === 'paused') await resumeSubscription({ client, path: { id: here.id } })
  if (isOff(aws)) await setFilter(topic, aws.arn, filterOfHere(here))
}

/**
 * Pauses the subscription if all messages from before `since` have ended, when AWS was surely on. Resolves with whether
 * they have. Otherwise it stays active, so that they are delivered.
 */
export async function leaveFantail(
  { client }: CutoverTools,
  { here }: Pair,
  since: number,
): Promise<boolean> {
  const path = { id: here.id }
  const at = Date.now()
  if (mayHaveOlder(await getSubscription({ client, path }), { since, at })) return false
  await pauseSubscription({ client, path })
  await mark(client, here.id, false)
  return true
}

export interface Looked {
  lane: Pick<Subscription['lane'], 'waiting' | 'inFlight' | 'oldestWaitingSeconds'>
  verdict: Pick<Subscription['verdict'], 'code'>
}

/**
 * An attempt in flight may be of an older message, and fail. `at` is from before the look, so that no message seems
 * younger than it is.
 */
export function mayHaveOlder(
  { lane, verdict }: Looked,
  { since, at }: { since: number; at: number },
): boolean {
  const { waiting, inFlight, oldestWaitingSeconds } = lane
  if (verdict.code === 'undispatched' || inFlight > 0 || waiting > SURE_WAITING_MAX) return true
  return oldestWaitingSeconds !== null && at - oldestWaitingSeconds * 1_000 < since
}

/** The metadata may have changed since the subscription was read. */
async function mark(client: Client, id: string, alone: boolean): Promise<void> {
  const present = await getSubscription({ client, path: { id } })
  await updateSubscription({ client, path: { id }, body: { metadata: markedAlone(present, alone) } })
}

async function setFilter({ sns }: AwsTopic, SubscriptionArn: string, AttributeValue: string): Promise<void> {
  const AttributeName = 'FilterPolicy'
  await sns.send(new SetSubscriptionAttributesCommand({ SubscriptionArn, AttributeName, AttributeValue }))
}
