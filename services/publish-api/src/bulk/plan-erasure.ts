/**
 * Plans to erase everything of a customer who leaves: the topics whose names begin with a prefix, or the subscriptions
 * with a key and value in their metadata, and all that belongs to them. The steps have an order, and run one after the
 * other: subscriptions and topics, then what waits, then dead letters, then everything that only names them.
 */

import { hash } from 'node:crypto'
import { isVisible, needNames } from '@fantail/access'
import {
  type BulkFailure,
  type BulkTask,
  FantailError,
  type RedriveFilter,
  type SubscriptionRecord,
  topicArn as topicArnOf,
} from '@fantail/contracts'
import type { BulkPlanInput } from '@fantail/contracts/schemas/subscriptions/bulk-schemas'
import { maskCredentials } from '@fantail/delivery'
import { allItems } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'
import { nextLetterQueueOf } from '../redrives/dead-letter-sources.ts'
import { permits, selectLanes } from './select-lanes.ts'

type PlanCall = Call<unknown, z.output<typeof BulkPlanInput>>
type Leaving = NonNullable<BulkTask['leaving']>

/** Topics that one erasure deletes. Past it: the plan is refused. */
const ERASED_TOPICS_MAX = 1_000
const ERASABLE_AT_ONCE = 100
const ENDPOINT_DIGEST_CHARS = 16
/** Topics that the plan shows. */
const TOPICS_SHOWN = 10

interface Planned {
  objects: string[]
  counts: Record<string, number>
  sample: string[]
  refused: BulkFailure[]
  leaving: Leaving
}

export async function planErasure(deps: ApiDeps, call: PlanCall): Promise<Planned> {
  const leaving = leavingOf(call.body.select)
  const { caller, request } = call
  if (caller && 'topicPrefix' in leaving) needNames(caller, leaving.topicPrefix)
  const asker = { caller, request, action: 'SNS:Unsubscribe', unsubscribed: true as const }
  const { lanes, refused } = await selectLanes(deps, call.body.select, asker)
  const subscriptions = lanes.map(({ record }) => record)
  const { topics, spared } =
    'topicPrefix' in leaving
      ? await topicsOf(deps, call, leaving.topicPrefix)
      : { topics: [], spared: [] as BulkFailure[] }
  const filter = letterFilterOf(deps, call, leaving, { subscriptions, spared })
  const found = await queuesOf(deps, { subscriptions, topics, filter })
  const mayPurge = permits(deps, call, 'SQS:PurgeQueue')
  const queues: typeof found = []
  for (const queue of found) {
    const refusal = queue.isOwn ? null : await mayPurge(queue.arn)
    if (refusal) refused.push(refusedBy(queue.arn, refusal))
    else queues.push(queue)
  }
  refused.push(...spared)
  const letters = queues.reduce((sum, { letters: count }) => sum + count, 0)
  return {
    objects: [
      ...subscriptions.map(({ id, arn, endpoint }) => `sub ${id} ${arn} ${endpointDigest(endpoint)}`),
      ...topics.map(({ arn, uid }) => `topic ${arn} ${uid}`),
      'drain',
      ...queues.map(({ arn }) => `letters ${arn}`),
      'rest',
      'forget',
    ],
    counts: {
      topics: topics.length,
      lanes: subscriptions.length,
      deliveries: lanes.reduce((sum, { deliveries }) => sum + deliveries, 0),
      deadLetters: letters,
    },
    sample: topics.slice(0, TOPICS_SHOWN).map(({ arn }) => arn),
    refused,
    leaving,
  }
}

/** By it the erasure finds the endpoint in samples of other tasks, which show it masked. */
export function endpointDigest(endpoint: string): string {
  return hash('sha256', maskCredentials(endpoint)).slice(0, ENDPOINT_DIGEST_CHARS)
}

/** An erasure has one condition, so that nobody erases more or less than a whole customer. */
function leavingOf({ topicPrefix, metadata, ...others }: PlanCall['body']['select']): Leaving {
  const isAlone = Object.values(others).every((value) => value === undefined)
  if (isAlone && topicPrefix !== undefined && metadata === undefined) return { topicPrefix }
  if (isAlone && metadata !== undefined && topicPrefix === undefined) return { metadata }
  throw FantailError.invalid('select', 'must have topicPrefix or metadata, and nothing else, to erase')
}

const refusedBy = (object: string, { code, message }: FantailError): BulkFailure => ({
  object,
  code,
  message,
})

/** The topics to delete, and those that the caller may not delete. */
async function topicsOf(deps: ApiDeps, call: PlanCall, prefix: string) {
  const { caller } = call
  const mayDelete = permits(deps, call, 'SNS:DeleteTopic')
  const topics: { arn: string; uid: string }[] = []
  const spared: BulkFailure[] = []
  const query = { arnPrefix: topicArnOf(prefix, accountOf(deps, call)), limit: ERASABLE_AT_ONCE }
  for await (const { arn, uid } of allItems((more) => deps.topics.list({ ...query, ...more }))) {
    if (!isVisible(caller, arn)) continue
    const refusal = await mayDelete(arn)
    if (refusal) spared.push(refusedBy(arn, refusal))
    else topics.push({ arn, uid })
    if (topics.length > ERASED_TOPICS_MAX)
      throw FantailError.invalid(
        'select',
        `matches more than ${ERASED_TOPICS_MAX} topics: erase fewer at a time`,
      )
  }
  return { topics, spared }
}

function accountOf({ settings }: Pick<ApiDeps, 'settings'>, { caller }: Pick<Call, 'caller'>) {
  return { ...settings.arn, ...(caller && { account: caller.account }) }
}

function letterFilterOf(
  deps: ApiDeps,
  call: PlanCall,
  leaving: Leaving,
  { subscriptions, spared }: { subscriptions: SubscriptionRecord[]; spared: BulkFailure[] },
): RedriveFilter | undefined {
  if ('topicPrefix' in leaving) {
    const topicPrefix = topicArnOf(leaving.topicPrefix, accountOf(deps, call))
    return { topicPrefix, ...(spared.length > 0 && { exceptTopics: spared.map(({ object }) => object) }) }
  }
  return subscriptions.length === 0 ? undefined : { subscriptions: subscriptions.map(({ arn }) => arn) }
}

interface Letters {
  subscriptions: SubscriptionRecord[]
  topics: { arn: string }[]
  filter: RedriveFilter | undefined
}

/** Queues that hold dead letters of the customer now, and those that may get some until the lanes are gone. */
async function queuesOf(deps: ApiDeps, { subscriptions, topics, filter }: Letters) {
  if (filter === undefined) return []
  const own = await Promise.all(topics.map(async ({ arn }) => (await deps.topicQueues.find(arn))?.queueArn))
  const named = await Promise.all(subscriptions.map((record) => nextLetterQueueOf(deps, record)))
  const isOwn = (arn: string) => own.includes(arn)
  const may = new Set([...own, ...named].filter((arn) => arn !== undefined))
  const found: { arn: string; letters: number; isOwn: boolean }[] = []
  for await (const { arn } of allItems((more) => deps.queues.list({ limit: ERASABLE_AT_ONCE, ...more }))) {
    const { matched } = await deps.redrives.dryRun(arn, filter)
    if (matched > 0 || may.has(arn)) found.push({ arn, letters: matched, isOwn: isOwn(arn) })
    may.delete(arn)
  }
  return [...found, ...[...may].map((arn) => ({ arn, letters: 0, isOwn: isOwn(arn) }))]
}
