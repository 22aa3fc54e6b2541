/**
 * Receives from the queue WORKED and deletes the received messages. It asks these API processes in turn, whatever they
 * answer.
 */
import { untilPassed } from '../../harness/services/passing-time.ts'
import type { World } from '../world/world.ts'
import { WORKED } from './endpoints.ts'

const EVERY_MS = 200
const RECEIVE = { maxMessages: 10, visibilityTimeoutSeconds: 2 }
const QUEUE = `/v1/queues/${WORKED}`

interface Received {
  messages: { body: string; receiptHandle: string }[]
}

export class QueueConsumer {
  /** Received texts, with how often each came. */
  readonly received = new Map<string, number>()
  readonly #world: World
  readonly #working: Promise<void>
  #stopped = false

  constructor(world: World, apis: readonly (0 | 1)[] = [0, 1]) {
    this.#world = world
    this.#working = this.#work(apis)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#working
  }

  async #work(apis: readonly (0 | 1)[]): Promise<void> {
    while (!this.#stopped) {
      for (const api of apis) {
        await untilPassed(EVERY_MS)
        if (!this.#world.isUp(api)) continue
        // If an answer is lost, its messages become visible again later.
        await this.#receive(api).catch(() => undefined)
      }
    }
  }

  async #receive(api: 0 | 1): Promise<void> {
    const client = this.#world.clients[api]
    const { messages } = await client.post<Received>(`${QUEUE}/receive`, RECEIVE)
    if (messages.length === 0) return
    for (const { body } of messages) this.received.set(body, (this.received.get(body) ?? 0) + 1)
    await client.post(`${QUEUE}/ack`, { receiptHandles: messages.map(({ receiptHandle }) => receiptHandle) })
  }
}
