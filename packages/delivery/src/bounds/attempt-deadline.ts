/** Gives an attempt of several steps one deadline, because any of the steps may hang. */
import { ATTEMPT_DEADLINE_MS } from '@fantail/contracts'

/**
 * The signal is aborted at the attempt's deadline. It is aborted earlier if `closing` is, because the process stops.
 * Node runs due timers before it reads sockets. A process that stood still therefore reads the answers that have come
 * before its deadlines count.
 */
export function attemptDeadline(
  timeoutMs: number | undefined = ATTEMPT_DEADLINE_MS,
  closing?: AbortSignal,
): AbortSignal {
  const deadline = new AbortController()
  const expire = () => deadline.abort(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError'))
  setTimeout(() => setImmediate(expire), timeoutMs).unref()
  return closing ? AbortSignal.any([deadline.signal, closing]) : deadline.signal
}

/**
 * Waits for the work. If the signal is aborted first, it rejects with the signal's reason. So hanging work cannot delay
 * the end of the attempt.
 */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Parts into which a time-out is divided by `timeLeft`. */
const TIME_PARTS = 20

/**
 * The time-out of a request that began `waitedMs` after its attempt. It has few values for each time-out, because
 * requests with equal time-outs share a list of deadlines. It is up to a twentieth longer than the time that is left.
 */
export function timeLeft(timeoutMs: number, waitedMs: number): number {
  const part = timeoutMs / TIME_PARTS
  return Math.max(1, Math.ceil((timeoutMs - waitedMs) / part)) * part
}

/**
 * Waits for the work for at most `ms`. Rejects with a TimeoutError after it, or with the reason of `closing` if that is
 * aborted first. Nothing is left when it has ended.
 */
export async function within<T>(ms: number, closing: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  const late = new AbortController()
  const expire = () => late.abort(new DOMException(`no answer within ${ms} ms`, 'TimeoutError'))
  const timer = setTimeout(() => setImmediate(expire), ms)
  try {
    const untilLate = untilAborted(late.signal, work)
    return await (closing ? untilAborted(closing, untilLate) : untilLate)
  } finally {
    clearTimeout(timer)
  }
}
