/** A bulk task in the form of the REST API, and who may see it. */
import type { Caller } from '@fantail/access'
import type { BulkAction, BulkFailure, BulkTask } from '@fantail/contracts'
import type { BulkTaskView } from '@fantail/contracts/schemas/subscriptions/bulk-schemas'
import type { z } from 'zod'
import { iso, isoOrNull } from '../http/record-views.ts'

type View = z.input<typeof BulkTaskView>

/** The actions that undo an action. */
export const UNDONE_BY: Partial<Record<BulkAction, BulkAction>> = { pause: 'resume', resume: 'pause' }

export function bulkView(task: BulkTask, failures: BulkFailure[] = []): View {
  const { key: _, leaving: __, publicUrl: ___, plannedAt, expiresAt, startedAt, endedAt, ...shown } = task
  return {
    ...shown,
    words: wordsOf(task),
    failures,
    canUndo: isUndoable(task),
    plannedAt: iso(plannedAt),
    expiresAt: isoOrNull(expiresAt),
    startedAt: isoOrNull(startedAt),
    endedAt: isoOrNull(endedAt),
  }
}

/** It has changed something, has ended, and nothing undoes it yet. */
export function isUndoable({ action, endedAt, undoneBy, results }: BulkTask): boolean {
  return UNDONE_BY[action] !== undefined && endedAt !== null && undoneBy === null && changes(results) > 0
}

function changes({ paused = 0, resumed = 0 }: Record<string, number>): number {
  return paused + resumed
}

const SINGULAR = new Map([
  ['lanes', 'lane'],
  ['deliveries', 'delivery'],
  ['deadLetters', 'dead letter'],
  ['topics', 'topic'],
])
const PLURAL = new Map([['deadLetters', 'dead letters']])

function wordsOf({ action, counts }: BulkTask): string {
  const found = Object.entries(counts).map(([kind, count]) => {
    const name = (count === 1 ? SINGULAR.get(kind) : PLURAL.get(kind)) ?? kind
    return `${count.toLocaleString('en')} ${name}`
  })
  return `${action} ${found.join(', ')}`
}

/** The key that planned it sees a task, and so does every key of its account without prefixes. */
export function seesTask(caller: Caller, { key }: BulkTask): boolean {
  if (caller === null || caller.id === key?.id) return true
  return caller.prefixes.length === 0 && key?.account === caller.account
}
