import { isFifoName } from '@fantail/contracts'
import { FIFO_KIND } from './fifo-kind.ts'
import type { QueueKind } from './queue-kind.ts'
import { STANDARD_KIND } from './standard-kind.ts'

/** A queue's kind follows from its name. */
export function kindOf(arn: string): QueueKind {
  return isFifoName(arn) ? FIFO_KIND : STANDARD_KIND
}
