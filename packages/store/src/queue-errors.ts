/** What calls on queues fail with, beside what their signatures say. */
import { FantailError } from '@fantail/contracts'

export function queueMissing(): FantailError {
  return new FantailError('not_found', 'no such queue')
}

/** A standard queue has as many messages in flight as it may have: SQS's OverLimit. */
export class OverLimitError extends FantailError {
  constructor() {
    super('rate_limited', 'the queue has too many messages in flight; acknowledge some first', {
      retryAfterSeconds: 1,
    })
    this.name = 'OverLimitError'
  }
}
