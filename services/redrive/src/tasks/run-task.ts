/**
 * One run of a task: a redrive, a resend or a purge. It moves batch after batch until the task is done, paused or
 * canceled, or until another run has it. It reads the task again before each batch, so a change of rate or status
 * takes effect within half a second.
 */
import {
  type DeadLetter,
  FantailError,
  type Message,
  type RedriveAction,
  type RedriveTask,
} from '@fantail/contracts'
import type {
  RedriveBatch,
  RedriveBatches,
  RedriveRun,
  Redrives,
  ResendBatches,
  StorageGuard,
} from '@fantail/store'
import { type RunResult, runPurge } from './run-purge.ts'
import { TaskPauses } from './task-pauses.ts'

/** Pause between two checks of the memory and the lane by a resend. */
const RESEND_WAIT_MS = 500
/** Pause between two checks of the ends of a canary. */
const CANARY_POLL_MS = 250

export interface RunTaskDeps {
  redrives: Pick<Redrives, 'get' | 'cancel'>
  batches: Pick<RedriveBatches, 'open' | 'choose' | 'move' | 'finish' | 'renumber' | 'purge' | 'recordCanary'>
  /** Tasks whose source is a subscription. */
  resends: Pick<ResendBatches, 'choose' | 'move' | 'goLive' | 'release' | 'laneCapacity'>
  /** Resends make deliveries, so they wait while publishing is refused. */
  storageGuard: Pick<StorageGuard, 'admit'>
  /** Called after every batch, with the ARN of the source queue. */
  onMoved?: (moved: number, skipped: number, source: string) => void
  /** Called for each dead letter that was sent again. */
  onSent?: (sent: SentLetter) => void
  /** Called after every page of a purge that has removed something. */
  onPurged?: (removed: number) => void
  /** Default: pauses of its own. */
  pauses?: Pick<TaskPauses, 'pause'>
}

/** A dead letter that was sent again, and the message that was sent instead, if it was edited. */
export interface SentLetter {
  letter: DeadLetter
  edited?: Message
}

interface Run extends RedriveRun {
  source: string
  startedAt: number
  action: RedriveAction
  /** How many more deliveries a resend may make before it looks at its lane again. */
  laneCapacity: number
}

/** Throws Redis's errors. The next run begins at the same batch. */
export async function runTask(deps: RunTaskDeps, id: string, signal: AbortSignal): Promise<RunResult> {
  const fence = await deps.batches.open(id)
  const task = fence === null ? null : await deps.redrives.get(id)
  if (fence === null || task === null) return 'nothing'
  const { source, destination, filter, edit, startedAt, action } = task
  const run: Run = { id, fence, source, destination, filter, edit, startedAt, action, laneCapacity: 0 }
  if (action === 'purge') return runPurge(deps, run, signal)
  const { pauses = new TaskPauses() } = deps
  while (!signal.aborted) {
    if (isResend(run) && (await mustWait(deps, run))) {
      await pauses.pause(RESEND_WAIT_MS, signal)
      continue
    }
    const choice = await (isResend(run) ? deps.resends : deps.batches).choose(run)
    switch (choice.kind) {
      case 'batch':
        if (!(await moveBatch(deps, run, choice.batch))) return 'stale'
        break
      case 'wait':
        await pauses.pause(choice.waitMs, signal)
        break
      case 'canary':
        if (!(await awaitCanary(deps, run, choice.waitedMs))) return 'stale'
        await pauses.pause(CANARY_POLL_MS, signal)
        break
      case 'caughtUp':
        if (!(await goLive(deps, run))) return 'stale'
        break
      case 'again':
        break
      case 'stop':
        return stopRun(deps, id)
      case 'stale':
        return 'stale'
    }
  }
  return 'stopped'
}

async function stopRun({ redrives, resends }: RunTaskDeps, id: string): Promise<RunResult> {
  const task = await redrives.get(id)
  if (!task) return 'nothing'
  await resends.release(task)
  return task.status
}

/** Returns false if another run has the task. */
async function moveBatch(deps: RunTaskDeps, run: Run, batch: RedriveBatch): Promise<boolean> {
  const result = await (isResend(run) ? deps.resends : deps.batches).move(run, batch)
  if (result.kind === 'stale') return false
  if (result.kind === 'behind') return deps.batches.renumber(run, batch.number, result.laterBatch)
  const failed = result.kind === 'failed'
  const flags = failed ? new Map(batch.items.map(({ id }) => [id, false])) : result.moved
  const how = failed ? { error: result.error } : result
  if (!(await deps.batches.finish(run, batch.number, flags, how))) return false
  const moved = [...flags.values()].filter(Boolean).length
  run.laneCapacity -= moved
  deps.onMoved?.(moved, flags.size - moved, run.source)
  if (deps.onSent) for (const letter of sentLetters(run, batch, flags)) deps.onSent(letter)
  return true
}

/** A subscription that is gone ends the task at its next batch. */
async function goLive({ resends, redrives }: RunTaskDeps, run: Run): Promise<boolean> {
  try {
    return await resends.goLive(run)
  } catch (error) {
    if (!(error instanceof FantailError && error.code === 'not_found')) throw error
    return redrives.cancel(run.id).then(() => true)
  }
}

function isResend({ action }: Run): boolean {
  return action === 'resend'
}

/** A task that was paused or canceled meanwhile does not wait. */
async function mustWait(deps: RunTaskDeps, run: Run): Promise<boolean> {
  if (run.laneCapacity <= 0) run.laneCapacity = await deps.resends.laneCapacity(run)
  if (run.laneCapacity > 0 && (await hasMemory(deps))) return false
  return (await deps.redrives.get(run.id))?.status === 'running'
}

async function hasMemory({ storageGuard }: RunTaskDeps): Promise<boolean> {
  try {
    await storageGuard.admit()
    return true
  } catch (error) {
    if (error instanceof FantailError && error.code === 'storage_full') return false
    throw error
  }
}

/** Looks at the ends of the canary. Returns false if another run has the task. */
async function awaitCanary(deps: RunTaskDeps, run: Run, waitedMs: number): Promise<boolean> {
  const task = await deps.redrives.get(run.id)
  const next = task ? judgeCanary(task, waitedMs) : 'wait'
  if (next === 'wait') return true
  return deps.batches.recordCanary(run, next === 'goOn' ? '' : next.pause)
}

/** The letters of a batch that were moved, as they were sent. */
function sentLetters(run: Run, { items }: RedriveBatch, moved: Map<string, boolean>): SentLetter[] {
  return items.flatMap(({ id, item }) => {
    const letter = item?.message.deadLetter
    if (!letter || !moved.get(id)) return []
    const edit = run.edit?.itemId === id ? run.edit.message : undefined
    return edit ? [{ letter, edited: edit }] : [{ letter }]
  })
}

/** @limit How long a redrive waits for the ends of its canary. Past it: deliveries without an end count as failed. */
const CANARY_WAIT_MS_MAX = 120_000
/** @limit Share of a canary that may fail. Past it: the redrive pauses itself. */
const CANARY_FAILED_SHARE = 0.2

type Facts = Pick<RedriveTask, 'delivered' | 'backInDlq' | 'discarded' | 'inLanes'>

/** Messages that went to a queue have no end, so only deliveries count. */
export function judgeCanary(task: Facts, waitedMs: number): 'wait' | 'goOn' | { pause: string } {
  const { delivered, backInDlq, discarded, inLanes } = task
  const failed = backInDlq + discarded
  const failedMax = Math.floor(inLanes * CANARY_FAILED_SHARE)
  if (failed > failedMax) return { pause: `${failed} of ${inLanes} first messages failed again` }
  if (delivered + failed >= inLanes) return 'goOn'
  if (waitedMs < CANARY_WAIT_MS_MAX) return 'wait'
  const open = inLanes - delivered
  if (open <= failedMax) return 'goOn'
  return {
    pause: `${open} of ${inLanes} first messages were not delivered in ${CANARY_WAIT_MS_MAX / 1_000} s`,
  }
}
