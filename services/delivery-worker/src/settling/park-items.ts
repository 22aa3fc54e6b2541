/** The deliveries and checkpoints that Parking collects for a script, and the request that is made of them. */
import type { DispatchRun } from '@fantail/jobs'
import {
  batchField,
  type ParkAs,
  type ParkJob,
  type ParkMessage,
  type ParkOutcome,
  type Standing,
} from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'

/** The part of a run that parking needs. */
export interface FencedRun {
  jobName: string
  fence: number
  lost: boolean
  /** True if no checkpoint is needed any more. */
  ended: boolean
  copies: Pick<DispatchRun['copies'], 'mark' | 'sent' | 'parked' | 'proveIn'>
  /** Checkpoint fields of this shard that have changed since the last that was stored. */
  checkpointFields(shard: number): [string, Buffer][]
  /** Called when the fields that were read last are stored. */
  checkpointed(shard: number): void
}

export interface ParkItem {
  run: FencedRun
  subscriptionId: string
  delivery: Buffer
  context: MessageContext
  park: ParkAs
  /** Absent: the endpoint's standing has not changed. */
  standing?: Standing | undefined
  /**
   * Settles the delivery in the checkpoint of its run. Called right before the script that parks the delivery.
   * With false it takes that back, because the delivery was not parked.
   */
  settle(isParked: boolean): void
  /** Called once. `stale`: the run is lost, and another worker has the delivery. */
  done(outcome: ParkOutcome | 'stale', lease: string | null): void
}

interface CheckpointItem {
  run: FencedRun
  checkpoint: true
  /** Called when the checkpoint is written, or when the run is lost. */
  written?: () => void
}

export type Item = ParkItem | CheckpointItem

/**
 * Checks the copies of all runs. A run that has lost a copy becomes lost. Resolves in the turn of the event loop in
 * which all other copies hold.
 */
export async function proveCopies(shard: number, runs: FencedRun[]): Promise<void> {
  for (;;) {
    const open = runs.filter((run) => !run.lost && !run.ended)
    const asked = open.map((run) => ({ run, proven: run.copies.proveIn(shard) }))
    if (asked.every(({ proven }) => proven === true)) return
    await Promise.all(
      asked.map(async ({ run, proven }) => {
        if (!(await proven)) run.lost = true
      }),
    )
  }
}

export function groupByRun(batch: Item[]): Map<FencedRun, ParkItem[]> {
  const groups = new Map<FencedRun, ParkItem[]>()
  for (const item of batch) {
    const items = groups.get(item.run) ?? []
    if (!('checkpoint' in item)) items.push(item)
    groups.set(item.run, items)
  }
  return groups
}

export function buildRequest(shard: number, groups: Map<FencedRun, ParkItem[]>, batch: string) {
  const messages: ParkMessage[] = []
  const positions = new Map<MessageContext, number>()
  const jobs: ParkJob[] = []
  const groupsSent: FencedRun[] = []
  const position = (context: MessageContext) => {
    let at = positions.get(context)
    if (at === undefined) {
      at = messages.push({ id: context.id, body: context.body, groupId: context.message.groupId }) - 1
      positions.set(context, at)
    }
    return at
  }
  for (const [run, items] of groups) {
    if (run.lost || run.ended) continue
    const entries = items.map(({ subscriptionId, delivery, context, park, standing }) => ({
      subscriptionId,
      delivery,
      message: position(context),
      park,
      standing,
    }))
    groupsSent.push(run)
    const fields = run.checkpointFields(shard)
    if (entries.length > 0) fields.push(batchField(batch))
    jobs.push({ jobName: run.jobName, fence: run.fence, fields, entries })
  }
  return { request: { messages, jobs }, groupsSent }
}
