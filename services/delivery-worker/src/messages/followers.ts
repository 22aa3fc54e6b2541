/**
 * The followers of a claimed delivery of a FIFO lane: deliveries behind it in its group. One append stores all of them
 * in their queue. One by one, each would take four round trips to Redis, and AWS moves 300 messages of a group in a
 * second.
 */
import { MessageContext } from './message-context.ts'

/**
 * Texts and attributes of a head and its followers. Past it: further deliveries stay in the lane. One script of the
 * queue can store at least this many bytes, so head and followers are stored completely or not at all.
 */
const FOLLOWED_TEXT_BYTES_MAX = 1_048_576

export interface Follower {
  delivery: Buffer
  context: MessageContext
}

interface Behind {
  delivery: Buffer
  context: MessageContext | Error | null
}

/**
 * The deliveries behind the head that may be sent with it, up to the first unreadable one. The unreadable one is
 * handled when it is the head of its group.
 */
export function followersOf(head: MessageContext, behind: Behind[]): Follower[] {
  const followers: Follower[] = []
  let bytes = head.sizeBytes
  for (const { delivery, context } of behind) {
    if (!(context instanceof MessageContext)) break
    bytes += context.sizeBytes
    if (bytes > FOLLOWED_TEXT_BYTES_MAX) break
    followers.push({ delivery, context })
  }
  return followers
}
