/**
 * A run: a claimed delivery of a FIFO lane and those behind it in its group, which go to their queue in one append. AWS
 * moves 300 messages of a group in a second; one by one each of them would take four trips to Redis.
 */
import { MessageContext } from '../topics/message-context.ts'

/**
 * One script of the queue stores so much, so that a run is stored whole or not at all.
 * @limit Texts and attributes of a FIFO run. Past it: the run ends; the others stay in the lane.
 */
const RUN_TEXT_BYTES_MAX = 1_048_576

export interface InRun {
  delivery: Buffer
  message: MessageContext
}

interface Behind {
  delivery: Buffer
  message: MessageContext | Error | null
}

/** Those that may go along: up to the first that cannot be read, which is dealt with when it is its group's head. */
export function runOf(head: MessageContext, behind: Behind[]): InRun[] {
  const run: InRun[] = []
  let bytes = head.sizeBytes
  for (const { delivery, message } of behind) {
    if (!(message instanceof MessageContext)) break
    bytes += message.sizeBytes
    if (bytes > RUN_TEXT_BYTES_MAX) break
    run.push({ delivery, message })
  }
  return run
}
