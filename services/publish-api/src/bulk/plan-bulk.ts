/** Makes the plan of a bulk task: which objects it acts on, which it leaves out and why, and how much that is. */
import { type Caller, needScope } from '@fantail/access'
import type { BulkAction, BulkFailure, BulkTask, KeyScope } from '@fantail/contracts'
import type { BulkPlanInput } from '@fantail/contracts/schemas/subscriptions/bulk-schemas'
import { maskCredentials } from '@fantail/delivery'
import { type NewBulkTask, sideBySide } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'
import { publicUrlFor } from '../http/origin.ts'
import { letterQueueOf } from '../redrives/dead-letter-sources.ts'
import { planErasure } from './plan-erasure.ts'
import { permits, type Selected, type SelectedLane, selectLanes } from './select-lanes.ts'

type Input = z.output<typeof BulkPlanInput>

/** The scopes of which a key needs one, as for the same action on one object. */
const SCOPES: Record<BulkAction, readonly KeyScope[]> = {
  test: ['manage'],
  retry: ['redrive', 'manage'],
  pause: ['manage'],
  resume: ['manage'],
  redrive: ['redrive'],
  purge: ['manage'],
  erase: ['manage'],
}

/** Objects that a plan shows. */
const OBJECTS_SHOWN = 10
/** Refused objects that a plan lists. Past it: the others are counted. */
const REFUSED_SHOWN = 100
/** Subscriptions whose letters one redrive moves. */
const REDRIVEN_TOGETHER = 500
const QUEUES_FOUND_AT_ONCE = 8

/** Throws `forbidden` if the caller's key lacks the scope for the action. */
export function needBulkScope(caller: Caller, action: BulkAction): void {
  if (caller) needScope(caller, SCOPES[action])
}

type Found = Pick<NewBulkTask, 'objects' | 'counts' | 'sample'> & { refused: BulkFailure[] }

export async function planBulk(deps: ApiDeps, call: Call<unknown, Input>): Promise<BulkTask> {
  const { action, maxPerSecond = null } = call.body
  const { caller } = call
  needBulkScope(caller, action)
  const {
    refused,
    leaving = null,
    ...found
  } = action === 'erase' ? await planErasure(deps, call) : await planLanes(deps, call)
  return deps.bulk.plan({
    ...found,
    action,
    leaving,
    maxPerSecond,
    refused: { count: refused.length, first: refused.slice(0, REFUSED_SHOWN) },
    key: caller && { id: caller.id, account: caller.account, prefixes: caller.prefixes },
    publicUrl: publicUrlFor(deps.settings, call),
    undoes: null,
  })
}

async function planLanes(deps: ApiDeps, call: Call<unknown, Input>): Promise<Found & { leaving?: null }> {
  const { action, select } = call.body
  const { caller, request } = call
  const asker = { caller, request, action: 'SNS:SetSubscriptionAttributes' }
  const { lanes, refused } = await selectLanes(deps, select, asker)
  if (action === 'redrive') return planRedrives(deps, call, { lanes, refused })
  const able = lanes.filter(({ record }) => !isPending(action, record))
  const pending = lanes.filter(({ record }) => isPending(action, record))
  return {
    objects: able.map(({ record }) => record.id),
    counts: { lanes: able.length, deliveries: able.reduce((sum, { deliveries }) => sum + deliveries, 0) },
    sample: sampleOf(able),
    refused: [...refused, ...pending.map(({ record }) => ({ object: record.id, ...AWAITS }))],
  }
}

const AWAITS = { code: 'wrong_state', message: 'it awaits its confirmation' }

function isPending(action: BulkAction, { status }: SelectedLane['record']): boolean {
  return status === 'pending' && (action === 'pause' || action === 'resume' || action === 'test')
}

function sampleOf(lanes: SelectedLane[]): string[] {
  return lanes.slice(0, OBJECTS_SHOWN).map(({ record }) => maskCredentials(record.endpoint))
}

/** An object of a redrive: a queue, and the subscriptions whose letters go back. */
export interface RedriveObject {
  queueArn: string
  subscriptions: string[]
}

/** A queue has one redrive at a time, so its letters of all selected lanes move together. */
async function planRedrives(
  deps: ApiDeps,
  call: Pick<Call, 'caller' | 'request'>,
  { lanes, refused }: Selected,
): Promise<Found> {
  const mayRedrive = permits(deps, call, 'SQS:StartMessageMoveTask')
  const withQueue = await sideBySide(lanes, QUEUES_FOUND_AT_ONCE, async (lane) => ({
    lane,
    queueArn: await letterQueueOf(deps, lane.record),
  }))
  const byQueue = Map.groupBy(
    withQueue.filter(({ queueArn }) => queueArn !== undefined),
    ({ queueArn }) => queueArn ?? '',
  )
  const counts = { lanes: 0, deadLetters: 0 }
  const objects: string[] = []
  const moved: SelectedLane[] = []
  for (const [queueArn, list] of byQueue) {
    if ((await deps.queues.get(queueArn)) === null) continue
    const refusal = await mayRedrive(queueArn)
    if (refusal) {
      refused.push({ object: queueArn, code: refusal.code, message: refusal.message })
      continue
    }
    const { bySubscription } = await deps.queues.deadLetterCounts(queueArn)
    const found = list.filter(({ lane }) => (bySubscription[lane.record.arn] ?? 0) > 0)
    counts.lanes += found.length
    moved.push(...found.map(({ lane }) => lane))
    for (const { lane } of found) counts.deadLetters += bySubscription[lane.record.arn] ?? 0
    for (let at = 0; at < found.length; at += REDRIVEN_TOGETHER) {
      const subscriptions = found.slice(at, at + REDRIVEN_TOGETHER).map(({ lane }) => lane.record.arn)
      objects.push(JSON.stringify({ queueArn, subscriptions } satisfies RedriveObject))
    }
  }
  return { objects, counts, sample: sampleOf(moved), refused }
}
