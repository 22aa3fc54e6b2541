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
