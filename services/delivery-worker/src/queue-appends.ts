/** Attempts to queues of ours: the append is the attempt. */
import { type AttemptResult, FantailError } from '@fantail/contracts'
import { queueBody } from '@fantail/delivery'
import { deliveryItemId, type Queues, type SendItem } from '@fantail/store'
import type { CompiledSubscription } from './compiled-slice.ts'
import type { InRun } from './fifo/group-run.ts'
import type { QueueGates } from './queue-gates.ts'

export interface QueueAppendsOptions {
  queues: Pick<Queues, 'send'>
  gates: Pick<QueueGates, 'refusalOf'>
}

export interface Appended {
  result: AttemptResult
  /** How many of the run were appended with it; the others are attempted when their turn comes. */
  along: number
}

export class QueueAppends {
  readonly #queues: Pick<Queues, 'send'>
  readonly #gates: Pick<QueueGates, 'refusalOf'>

  constructor({ queues, gates }: QueueAppendsOptions) {
    this.#queues = queues
    this.#gates = gates
  }

  /** Never rejects. Safe to repeat: an item's id is its delivery's. */
  async append(subscription: CompiledSubscription, head: InRun, run: InRun[]): Promise<Appended> {
    const startedAt = performance.now()
    try {
      const items = [await this.#itemOf(subscription, head), ...(await this.#itemsAlong(subscription, run))]
      const along = await this.#send(subscription.record.endpoint, items)
      const durationMs = performance.now() - startedAt
      return { result: { kind: 'response', statusCode: 200, durationMs }, along }
    } catch (error) {
      return { result: queueFailure(error, performance.now() - startedAt), along: 0 }
    }
  }

  /** All of them in one write. What the queue refuses says nothing of the head, which is then sent alone. */
  async #send(queueArn: string, items: SendItem[]): Promise<number> {
    try {
      await this.#queues.send(queueArn, items)
      return items.length - 1
    } catch (error) {
      if (items.length === 1 || !isRefusal(error)) throw error
      await this.#queues.send(queueArn, items.slice(0, 1))
      return 0
    }
  }

  async #itemsAlong(subscription: CompiledSubscription, run: InRun[]): Promise<SendItem[]> {
    const items: SendItem[] = []
    try {
      for (const next of run) items.push(await this.#itemOf(subscription, next))
    } catch (error) {
      // The first that may not go ends the run: it is refused when it is its group's head.
      if (!(error instanceof FantailError)) throw error
    }
    return items
  }

  /** Throws `forbidden` where the queue will never take it. */
  async #itemOf({ target, record, signature }: CompiledSubscription, { delivery, message }: InRun) {
    const item = queueBody(message.envelopeFor(signature), target, record.endpoint)
    const refusal = await this.#gates.refusalOf(record.endpoint, message.message, item)
    if (refusal !== undefined) throw new FantailError('forbidden', refusal)
    return { id: deliveryItemId(record.id, delivery), ...item }
  }
}

/** A missing queue and a message it cannot take are client-side: no retry (sns-semantics §7.2). */
function queueFailure(error: unknown, durationMs: number): AttemptResult {
  const detail = error instanceof Error ? error.message : String(error)
  if (!(error instanceof FantailError))
    return { kind: 'failure', error: 'storage', detail, durationMs, permanent: false }
  const missing = error.code === 'not_found'
  const failure = missing ? 'queue_missing' : 'queue_refused'
  return { kind: 'failure', error: failure, detail, durationMs, permanent: missing || isRefusal(error) }
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof FantailError &&
    error.status < 500 &&
    error.code !== 'rate_limited' &&
    error.code !== 'not_found'
  )
}
