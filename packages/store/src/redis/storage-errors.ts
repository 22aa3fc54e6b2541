/** Decides whether an error from Redis means that a write was certainly refused, or that nobody knows. */
import { FantailError } from '@fantail/contracts'

/** Replies by which Redis refuses a write before doing it. */
const REFUSED =
  /^(READONLY|MISCONF|LOADING|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|TRYAGAIN|BUSY|MOVED|ASK|Too many Cluster redirections)\b/
const OUT_OF_MEMORY = /^OOM\b|command not allowed when used memory/

export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && OUT_OF_MEMORY.test(error.message)
}

/**
 * Whether Redis answers but refuses to work for now. A BullMQ worker would repeat its command at once after such an
 * error.
 */
export function isTrouble(error: unknown): boolean {
  return error instanceof Error && (isOutOfMemory(error) || REFUSED.test(error.message))
}

/** Redis names the script in errors that one of its lines has caused. */
const OF_A_SCRIPT = /user_script/
const REFUSED_INSIDE = /-(READONLY|MISCONF|LOADING|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|TRYAGAIN|BUSY|OOM)\b/

/**
 * Whether a script has failed because of its arguments or its data, although Redis works. Another try would fail too.
 */
export function isScriptFault(error: unknown): boolean {
  if (!(error instanceof Error) || isTrouble(error)) return false
  return OF_A_SCRIPT.test(error.message) && !REFUSED_INSIDE.test(error.message)
}

/** The error for a publisher. It says whether the message is stored, if that is known. */
export function storageError(error: unknown): FantailError {
  if (error instanceof FantailError) return error
  if (isOutOfMemory(error)) {
    const message = 'storage is full; the message is not stored'
    return new FantailError('storage_full', message, { retryAfterSeconds: 5, cause: error })
  }
  const message = isTrouble(error)
    ? 'storage refuses writes; the message is not stored'
    : 'storage did not answer; the message may or may not be stored'
  return new FantailError('storage_unavailable', message, { retryAfterSeconds: 1, cause: error })
}
