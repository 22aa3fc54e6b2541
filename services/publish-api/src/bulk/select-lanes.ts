/**
 * Finds the lanes that a bulk request selects and the caller may act on. With a verdict among the conditions it looks
 * at the busy lanes, as the list of lanes does. Otherwise it reads all subscriptions, because a lane in which nothing
 * waits may be paused too.
 */
import { Access, type Caller, isVisible } from '@fantail/access'
import {
  type BulkFailure,
  FantailError,
  parseArn,
  parseMessageId,
  resolveTopic,
  type SubscriptionRecord,
  topicArn as topicArnOf,
} from '@fantail/contracts'
import type { BulkPlanInput } from '@fantail/contracts/schemas/subscriptions/bulk-schemas'
import { allItems, type LaneFigures, placeOfSubscription, sideBySide } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import { isAt, isInNeed, matchesText } from '../lanes/rank-lanes.ts'

type Selection = z.output<typeof BulkPlanInput>['select']

/** @limit Lanes that one bulk task acts on. Past it: the plan is refused. */
const BULK_LANES_MAX = 10_000
const SELECTED_AT_ONCE = 500
const RECORDS_READ_AT_ONCE = 8

export interface SelectedLane {
  record: SubscriptionRecord
  /** Deliveries that wait or are in flight. */
  deliveries: number
}

export interface Selected {
  lanes: SelectedLane[]
  /** Objects that the caller has named and may not act on. */
  refused: BulkFailure[]
}

interface Asker {
  caller: Caller
  request: ApiRequest
  /** Also selects subscriptions that were ended by their links. */
  unsubscribed?: true
}

/**
 * `action`: what the caller must be allowed to do with each lane. Throws `validation_failed` if too many lanes match.
 */
export async function selectLanes(
  deps: ApiDeps,
  select: Selection,
  asker: Asker & { action: string },
): Promise<Selected> {
  const refused: BulkFailure[] = []
  const records: SubscriptionRecord[] = []
  const mayAct = permits(deps, asker, asker.action)
  for await (const record of candidates(deps, select, { ...asker, refused })) {
    if (!isVisible(asker.caller, record.topicArn) || !matches(deps, record, select)) continue
    const refusal = await mayAct(record.topicArn)
    if (refusal) refused.push({ object: record.id, code: refusal.code, message: refusal.message })
    else records.push(record)
    if (records.length > BULK_LANES_MAX) {
      throw FantailError.invalid('select', `matches more than ${BULK_LANES_MAX} lanes: select fewer`)
    }
  }
  return { lanes: await withDeliveries(deps, records), refused }
}

/** Whether the caller may perform the action on a topic or queue. Each is asked about once. */
export function permits(deps: ApiDeps, { caller, request }: Asker, action: string) {
  const access = new Access(deps)
  const known = new Map<string, FantailError | null>()
  return async (arn: string): Promise<FantailError | null> => {
    if (caller === null) return null
    const before = known.get(arn)
    if (before !== undefined) return before
    const refusal = await refusalOf(() => access.permit(caller, { action, arn }, request))
    known.set(arn, refusal)
    return refusal
  }
}

async function refusalOf(permit: () => void | Promise<void>): Promise<FantailError | null> {
  try {
    await permit()
    return null
  } catch (error) {
    if (error instanceof FantailError && error.code === 'forbidden') return error
    throw error
  }
}

async function* candidates(
  deps: ApiDeps,
  select: Selection,
  asker: Asker & { refused: BulkFailure[] },
): AsyncGenerator<SubscriptionRecord> {
  const { caller, refused } = asker
  const named =
    select.subscriptions ?? (select.state === undefined ? undefined : await busyLanes(deps, select.state))
  if (named === undefined) {
    yield* allSubscriptions(deps, select, asker)
    return
  }
  const ids = [...new Set(named.map((name) => parseArn(name)?.subscriptionId ?? name))]
  const busy = select.state === undefined ? undefined : new Set(await busyLanes(deps, select.state))
  for (let at = 0; at < ids.length; at += SELECTED_AT_ONCE) {
    const page = ids.slice(at, at + SELECTED_AT_ONCE)
    const found = await sideBySide(page, RECORDS_READ_AT_ONCE, async (id) =>
      parseMessageId(id) ? deps.subscriptions.getReadable(id) : null,
    )
    for (const [i, record] of found.entries()) {
      const isThere = record !== null && !record.unsubscribed && isVisible(caller, record.topicArn)
      if (isThere && (busy?.has(record.id) ?? true)) yield record
      else if (!isThere && select.subscriptions)
        refused.push({ object: page[i] ?? '', code: 'not_found', message: 'no such subscription' })
    }
  }
}

async function busyLanes({ laneBoard }: ApiDeps, state: NonNullable<Selection['state']>): Promise<string[]> {
  const { lanes } = await laneBoard.read()
  const found = lanes.filter((lane) => (state === 'inNeed' ? isInNeed(lane) : lane.verdict.code === state))
  return found.map(({ subscription }) => subscription.id)
}

async function* allSubscriptions(
  { subscriptions, settings }: ApiDeps,
  { topic, topicPrefix, status, metadata }: Selection,
  { caller, unsubscribed }: Asker,
): AsyncGenerator<SubscriptionRecord> {
  const place = { ...settings.arn, ...(caller && { account: caller.account }) }
  const filter = {
    limit: SELECTED_AT_ONCE,
    ...(unsubscribed && { unsubscribed }),
    ...(topic !== undefined && { topicArn: resolveTopic(topic, settings.arn) }),
    ...(topic === undefined && topicPrefix !== undefined && { topicPrefix: topicArnOf(topicPrefix, place) }),
    ...(status !== undefined && { status }),
    ...(metadata !== undefined && { metadata }),
  }
  yield* allItems((more) => subscriptions.list({ ...filter, ...more }))
}

function matches(
  { settings }: ApiDeps,
  record: SubscriptionRecord,
  { hosts, topic, topicPrefix, status, q, metadata }: Selection,
): boolean {
  if (topic !== undefined && record.topicArn !== resolveTopic(topic, settings.arn)) return false
  if (topicPrefix !== undefined && !(parseArn(record.topicArn)?.name ?? '').startsWith(topicPrefix))
    return false
  if (hosts !== undefined && !isAt(hosts, record)) return false
  if (status !== undefined && record.status !== status) return false
  if (metadata !== undefined && record.metadata?.[metadata.key] !== metadata.value) return false
  return q === undefined || matchesText(record, q)
}

async function withDeliveries({ lanes }: ApiDeps, records: SubscriptionRecord[]): Promise<SelectedLane[]> {
  const places = records.map(({ id }) => ({ subscriptionId: id, shard: placeOfSubscription(id)?.shard ?? 0 }))
  const figures = await lanes.figures(places)
  return records.map((record, i) => ({ record, deliveries: sumOf(figures[i]) }))
}

function sumOf(figures: LaneFigures | undefined): number {
  return (figures?.waiting ?? 0) + (figures?.inFlight ?? 0)
}
