/**
 * A run of a FIFO lane: a claimed delivery, and deliveries behind it in its group. One append stores all of them in
 * their queue. One by one, each would take four round trips to Redis, and AWS moves 300 messages of a group in a
 * second.
 */
import { MessageContext } from './message-context.ts'

/**
 * Texts and attributes of a FIFO run. Past it: the run ends, and further deliveries stay in the lane. One script of the
 * queue can store at least this many bytes, so a run is stored completely or not at all.
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
 * The deliveries behind the head that may be sent with it, up to the first unreadable one. The unreadable one is
 * handled when it is the head of its group.
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
