/**
 * A run: a claimed delivery of a FIFO lane, and deliveries behind it in its group, that go to their queue in one
 * append. AWS moves 300 messages of a group in a second. One by one, each would take four round trips to Redis.
 */
import { MessageContext } from '../topics/message-context.ts'

/**
 * One script of the queue stores at least this much, so a run is stored as a whole or not at all.
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

/**
 * The deliveries behind the head that may be sent too, up to the first unreadable one. That one is handled when it is
 * its group's head.
 */
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
