/**
 * ReplayPolicy and ReplayStatus of subscriptions to FIFO topics with an archive (checklist 411 to 420). A replay is a
 * resend of the topic's archive (store: resend-batches.ts). While it runs, the subscription gets no new messages, so
 * that all come in order.
 *
 * no EndingPoint   replay ──caught up, failed or canceled──▶ new messages
 * EndingPoint      replay ──done──▶ nothing more, until the policy is removed or replaced
 */
import { setTimeout as delay } from 'node:timers/promises'
import { AwsError } from '@fantail/aws-wire'
import {
  FantailError,
  isFifoName,
  objectOf,
  type RedriveTask,
  SNAPSHOT_AGE_MS_MAX,
  type SubscriptionRecord,
} from '@fantail/contracts'
import { releaseEnded } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import type { Refuse } from '../wire/sns-parameters.ts'

type Tools = Pick<ApiDeps, 'clock' | 'redrives' | 'subscriptions' | 'topics'>

interface ReplayPolicy {
  /** JSON of its members. */
  text: string
  /** Bounds of the time of publishing, epoch ms. */
  since: number
  until?: number
}

const MEMBERS = ['PointType', 'StartingPoint', 'EndingPoint']
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/

/** null: the text removes the policy. Throws a refusal. SNS's texts are not known. */
export function readReplayPolicy(text: string, topicArn: string, refuse: Refuse): ReplayPolicy | null {
  if (!isFifoName(topicArn)) throw refuse('ReplayPolicy: can only be set for subscriptions to FIFO topics')
  const policy = text === '' ? {} : objectOf(text)
  if (!policy) throw refuse('ReplayPolicy: must be a JSON object')
  if (Object.keys(policy).length === 0) return null
  const unknown = Object.keys(policy).find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined) throw refuse(`ReplayPolicy: Unexpected JSON member: ${unknown}`)
  if (policy.PointType !== 'Timestamp') throw refuse('ReplayPolicy: PointType must be Timestamp')
  const since = timeOf(policy.StartingPoint)
  if (since === undefined)
    throw refuse('ReplayPolicy: StartingPoint must be a time such as 2026-11-27T10:00:00.000Z')
  const { PointType, StartingPoint, EndingPoint } = policy
  const shown = JSON.stringify({ PointType, StartingPoint, EndingPoint })
  if (EndingPoint === undefined) return { text: shown, since }
  const until = timeOf(EndingPoint)
  if (until === undefined || until <= since)
    throw refuse('ReplayPolicy: EndingPoint must be a time after StartingPoint')
  return { text: shown, since, until }
}

function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' && TIME.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** Throws a refusal if there is nothing to replay from. */
export async function checkReplay(
  { topics }: Pick<Tools, 'topics'>,
  topicArn: string,
  refuse: Refuse,
): Promise<void> {
  if (!(await topics.get(topicArn))?.archive) throw refuse('ReplayPolicy: the topic has no ArchivePolicy')
}

/** A message that was published before its time of the end is kept within this time after it. */
const KEPT_LATE_MS = 2_000

/** Starts the replay, in place of one that runs. With null the subscription gets new messages again. */
export async function setReplay(
  deps: Tools,
  record: SubscriptionRecord,
  policy: ReplayPolicy | null,
): Promise<void> {
  await endReplay(deps, record)
  const replay = policy && { policy: policy.text, task: await startReplay(deps, record, policy), holds: true }
  await deps.subscriptions.update(record.id, () => ({ replay }))
  // The task may have ended before the hold was written.
  const task = replay && (await deps.redrives.get(replay.task))
  if (task) await releaseEnded(deps.subscriptions, task)
  // No worker dispatches by the former settings any more.
  await delay(SNAPSHOT_AGE_MS_MAX)
}

async function startReplay(
  { redrives }: Tools,
  { arn }: SubscriptionRecord,
  { since, until }: ReplayPolicy,
): Promise<string> {
  const bounds = until === undefined ? { follows: true } : { until, untilKept: until + KEPT_LATE_MS }
  const asked = { subscriptionArn: arn, maxMessagesPerSecond: null, since, ...bounds }
  const task = await redrives.createResend(asked).catch((error: unknown) => {
    throw isActive(error) ? TOO_MANY() : error
  })
  return task.id
}

const TOO_MANY = () =>
  new AwsError('ReplayLimitExceeded', 'The subscription has an active replay', { status: 403 })

/** How long a replay is waited for that ends its last batch. Past it: ReplayLimitExceeded. */
const REPLAY_END_MS_MAX = 2_000
const REPLAY_LOOK_MS = 20

async function endReplay({ redrives }: Tools, { replay }: SubscriptionRecord): Promise<void> {
  if (!replay) return
  const until = performance.now() + REPLAY_END_MS_MAX
  let task = await redrives.cancel(replay.task).catch(orEnded)
  while (task && task.endedAt === null) {
    if (performance.now() > until) throw TOO_MANY()
    await delay(REPLAY_LOOK_MS)
    task = await redrives.get(replay.task)
  }
}

function orEnded(error: unknown): null {
  if (error instanceof FantailError && (error.code === 'wrong_state' || error.code === 'not_found'))
    return null
  throw error
}

function isActive(error: unknown): boolean {
  return error instanceof FantailError && error.code === 'redrive_active'
}

export async function replayAttributes(
  { redrives }: Pick<Tools, 'redrives'>,
  { replay }: SubscriptionRecord,
): Promise<Record<string, string>> {
  if (!replay) return {}
  return { ReplayPolicy: replay.policy, ReplayStatus: statusOf(await redrives.get(replay.task)) }
}

/** A task is forgotten 14 days after its end. */
function statusOf(task: RedriveTask | null): string {
  switch (task?.status) {
    case 'running':
    case 'paused':
      return task.moved + task.skipped === 0 ? 'Pending' : 'In progress'
    case 'failed':
    case 'canceled':
    case 'canceling':
      return 'Failed'
    default:
      return 'Completed'
  }
}
