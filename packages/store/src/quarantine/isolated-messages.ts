/**
 * Notes about isolated messages. Such a message waits by itself, because starts ended while they matched it, or because
 * matching it threw an error (delivery-worker/src/dispatch/isolating-runs.ts). The notes only show operators why the
 * message waits, so a note may be lost.
 */
import type { Redis } from 'ioredis'
import { isolatedKey } from '../keys/keys.ts'

/** How long a note is kept after its delay has ended, because the next try may have to wait for a worker. */
const KEPT_BEYOND_MS = 600_000

interface IsolatedMessage {
  topicArn: string
  sizeBytes: number
  /** Starts that ended without a result while the message was being matched. */
  failedStarts: number
  /** Approximate time, epoch ms. */
  nextAttemptAt: number
}

export class IsolatedMessages {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async note(messageId: string, message: IsolatedMessage, delayMs: number): Promise<void> {
    await this.#redis.set(isolatedKey(messageId), JSON.stringify(message), 'PX', delayMs + KEPT_BEYOND_MS)
  }

  /** Must be called when the message is in its lanes, or has ended. */
  async forget(messageId: string): Promise<void> {
    await this.#redis.del(isolatedKey(messageId))
  }

  async of(messageId: string): Promise<IsolatedMessage | null> {
    const text = await this.#redis.get(isolatedKey(messageId))
    return text === null ? null : (JSON.parse(text) as IsolatedMessage)
  }
}
