/** The outcome of an attempt, as the worker's parts pass it on. */
import type { AttemptResult } from '@fantail/contracts'
import type { ServerMark } from '@fantail/store'

export interface Outcome {
  result: AttemptResult
  /** How many of a run shared it (fifo/group-run.ts). */
  along: number
  /** undefined if no answer came. */
  answeredAfterMs: number | undefined
  /** Where the endpoint is a queue of this Redis: what is deleted next rests on the copy there. */
  copy?: ServerMark | undefined
}

export function resultState(result: AttemptResult): { statusCode: number | null; error: string | null } {
  if (result.kind === 'response') return { statusCode: result.statusCode, error: null }
  return { statusCode: null, error: result.error }
}
