/** The outcome of an attempt, as the parts of the worker pass it on. */
import type { AttemptResult } from '@fantail/contracts'
import { errorCodeOf } from '@fantail/policy'
import type { ServerMark } from '@fantail/store'

export interface Outcome {
  result: AttemptResult
  /** How many further messages of the run were delivered with it (fifo/group-run.ts). */
  along: number
  /** undefined: no answer came. */
  answeredAfterMs: number | undefined
  /**
   * Set if the endpoint is a queue of this Redis: the mark of the copy there. The source may be deleted while it holds.
   */
  copy?: ServerMark | undefined
}

export function resultState(result: AttemptResult): { statusCode: number | null; error: string | null } {
  if (result.kind === 'response') return { statusCode: result.statusCode, error: null }
  return { statusCode: null, error: errorCodeOf(result) }
}

export function outcomeOf(result: AttemptResult, along = 0): Outcome {
  return { result, along, answeredAfterMs: hasAnswered(result) ? result.durationMs : undefined }
}

/**
 * Whether the endpoint reacted. An immediate refusal (nothing listens, unknown name) also shows that it does not hang.
 */
function hasAnswered(result: AttemptResult): boolean {
  return result.kind !== 'failure' || result.error !== 'timeout'
}
