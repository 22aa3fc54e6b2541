/** Publishes some messages each second to both topics, and records every answer. */
import { startFairTimer } from '@fantail/test-kit'
import type { ErrorBody } from '../../harness/services/rest-client.ts'
import { FIFO_TOPIC, TOPIC } from '../inputs/chaos-topics.ts'
import type { Kind } from '../plan/input-plan.ts'
import type { World } from '../world/world.ts'

export interface Sent {
  text: string
  topic: string
  kind: Kind
  api: 0 | 1
  /** performance.now() at the answer. */
  answeredAt: number
  /** Without the time in which the machine ran other processes. */
  tookMs: number
  /** Undefined: the connection ended without an answer. */
  status: number | undefined
  /** The error's text, or why there was no answer. */
  reason: string
}

const EVERY_MS = 200
/** One message in so many goes to the FIFO topic. */
const FIFO_EVERY = 4
const GROUPS = 3

export class SteadyLoad {
  readonly sent: Sent[] = []
  readonly #world: World
  readonly #open = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #apis: readonly (0 | 1)[] = [0, 1]
  #number = 0

  constructor(world: World) {
    this.#world = world
    this.#timer = setInterval(() => this.#publishNext(), EVERY_MS)
  }

  /** From now on it asks only this API. Resolves when the other one has answered everything. */
  async useOnly(api: 0 | 1): Promise<void> {
    this.#apis = [api]
    await Promise.all(this.#open)
  }

  /** Resolves when everything has been answered. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#open)
  }

  accepted(): Sent[] {
    return this.sent.filter(({ status }) => status === 202)
  }

  #publishNext(): void {
    const number = this.#number++
    const api = this.#apis[number % this.#apis.length] ?? 0
    const open = this.#publish(number, api).finally(() => this.#open.delete(open))
    this.#open.add(open)
  }

  async #publish(number: number, api: 0 | 1): Promise<void> {
    const isFifo = number % FIFO_EVERY === 0
    const topic = isFifo ? FIFO_TOPIC : TOPIC
    const kind = Math.floor(number / 2) % 2 === 0 ? 'a' : 'c'
    const text = `lasting-${number}`
    const group = isFifo && { groupId: `g${number % GROUPS}`, deduplicationId: text }
    const messages = [{ message: text, attributes: { kind }, ...group }]
    const elapsed = startFairTimer(...this.#world.services.map(({ pid }) => pid))
    const path = `/v1/topics/${topic}/messages`
    const answer = await this.#world.clients[api]
      .call<Partial<ErrorBody>>('POST', path, { body: { messages } })
      .catch((error: Error) => ({ status: undefined, body: { error } }))
    const { status } = answer
    const reason = answer.body.error?.message ?? ''
    const tookMs = elapsed()
    this.sent.push({ text, topic, kind, api, answeredAt: performance.now(), tookMs, status, reason })
  }
}
