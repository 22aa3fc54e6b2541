/** Errors that calls on queues may throw. */
import { FantailError } from '@fantail/contracts'

export function queueMissing(): FantailError {
  return new FantailError('not_found', 'no such queue')
}

/** A message of this receive attempt was deleted, hidden again or received by another since. */
export class AttemptChangedError extends FantailError {
  constructor() {
    super('conflict', 'messages of this receive attempt have been changed since; use a new attempt id')
    this.name = 'AttemptChangedError'
  }
}

/** A standard queue has as many messages in flight as allowed (SQS's OverLimit). */
export class OverLimitError extends FantailError {
  constructor() {
    super('rate_limited', 'the queue has too many messages in flight; acknowledge some first', {
      retryAfterSeconds: 1,
    })
    this.name = 'OverLimitError'
  }
}
