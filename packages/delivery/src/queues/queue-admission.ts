/**
 * What keeps a message out of a queue before it is appended, each of it final: the queue's access
 * policy, the size it takes, and what SQS takes at all. Settings are at most a second old; one look-up serves every
 * message of that time.
 */
import {
  type Message,
  messageBytes,
  QUEUE_MESSAGE_ATTRIBUTES_MAX,
  QUEUE_MESSAGE_BYTES_MAX,
  type QueueRecord,
  unsendable,
} from '@fantail/contracts'
import { type AccessPolicy, parseAccessPolicy, takesFromTopic } from '@fantail/policy'
import type { QueueBody } from '../envelope/envelope.ts'

const AGE_MAX_MS = 1_000
const ENTRIES_MAX = 1_000

interface Settings {
  get(queueArn: string): Promise<QueueRecord | null>
}

interface Gate {
  policy: AccessPolicy | undefined
  bytesMax: number
}

export interface QueueGatesOptions {
  queues: Settings
  /** Monotonic ms. */
  now?: () => number
}

export class QueueGates {
  readonly #queues: Settings
  readonly #now: () => number
  readonly #gates = new Map<string, { at: number; gate: Promise<Gate | null> }>()

  constructor({ queues, now }: QueueGatesOptions) {
    this.#queues = queues
    this.#now = now ?? (() => performance.now())
  }

  /** Why the queue will never take this item, or undefined; that the queue is missing is for the append to say. */
  async refusalOf(queueArn: string, { topicArn }: Message, item: QueueBody): Promise<string | undefined> {
    if (Object.keys(item.attributes).length > QUEUE_MESSAGE_ATTRIBUTES_MAX) {
      return `a queue takes at most ${QUEUE_MESSAGE_ATTRIBUTES_MAX} attributes`
    }
    if (unsendable(item.body)) return 'a queue takes only characters that XML 1.0 allows'
    const gate = await this.#gate(queueArn)
    if (!gate) return undefined
    if (messageBytes(item.body, item.attributes) > gate.bytesMax) {
      return `the queue takes at most ${gate.bytesMax} bytes`
    }
    if (takesFromTopic(gate.policy, { queueArn, topicArn })) return undefined
    return 'the queue’s policy does not let the topic send'
  }

  /** True where the queue's policy keeps this topic's messages out. */
  async denies(queueArn: string, { topicArn }: Message): Promise<boolean> {
    const gate = await this.#gate(queueArn)
    return gate !== null && !takesFromTopic(gate.policy, { queueArn, topicArn })
  }

  #gate(queueArn: string): Promise<Gate | null> {
    const known = this.#gates.get(queueArn)
    const now = this.#now()
    if (known && now - known.at < AGE_MAX_MS) return known.gate
    const gate = this.#queues.get(queueArn).then((queue) => queue && gateOf(queue))
    if (this.#gates.size >= ENTRIES_MAX) this.#gates.clear()
    this.#gates.set(queueArn, { at: now, gate })
    // A failed look-up is this caller's to tell, and the next one's to try again.
    gate.catch(() => this.#gates.delete(queueArn))
    return gate
  }
}

function gateOf({ attributes, maximumMessageBytes }: QueueRecord): Gate {
  const policy = attributes.Policy === undefined ? undefined : parseAccessPolicy(attributes.Policy)
  return { policy, bytesMax: maximumMessageBytes ?? QUEUE_MESSAGE_BYTES_MAX }
}
