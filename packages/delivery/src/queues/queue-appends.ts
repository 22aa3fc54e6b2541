/**
 * Makes attempts at queues of this Fantail by appending messages. Deliveries and tests of a subscription use the same
 * code.
 */
import { type AttemptResult, FantailError, type Message } from '@fantail/contracts'
import type { QueueBody } from '../envelope/envelope.ts'
import { unopenedSecrets } from '../outbound/unopened-secrets.ts'
import type { QueueAdmission } from './queue-admission.ts'

/** `id` identifies the item in the queue, so that a repeated append changes nothing. */
type QueueItem = QueueBody & { id?: string }

export interface QueueAppend {
  message: Message
  item: QueueItem
}

/**
 * Proves that the copy of a message is in Redis. The source of the copy may be deleted only if `holds` says that the
 * copy still exists.
 */
export interface CopyMark {
  readonly key: string
  readonly at: number
  holds(): boolean
}

interface QueueAppendsOptions {
  queues: { send(queueArn: string, items: QueueItem[]): Promise<unknown> }
  admission: Pick<QueueAdmission, 'refusalOf' | 'seals'>
  /** Marks the item before it is appended (CopyMark). Absent: the append does not lead to the deletion of a source. */
  mark?(queueArn: string): CopyMark
}

interface Appended {
  result: AttemptResult
  /** How many of the followers were appended. The others are attempted later. */
  followersSent: number
  copy?: CopyMark | undefined
}

export class QueueAppends {
  readonly #queues: QueueAppendsOptions['queues']
  readonly #admission: QueueAppendsOptions['admission']
  readonly #mark: QueueAppendsOptions['mark']

  constructor({ queues, admission, mark }: QueueAppendsOptions) {
    this.#queues = queues
    this.#admission = admission
    this.#mark = mark
  }

  /**
   * Appends the message of the attempt, which is the first of `appends`. The other messages follow it in its FIFO group
   * and may be appended with it, in order. A success has the status 200, as in SQS. The promise never rejects.
   */
  async append(queueArn: string, appends: Iterable<QueueAppend>): Promise<Appended> {
    const startedAt = performance.now()
    const copy = this.#mark?.(queueArn)
    try {
      const followersSent = await this.#send(queueArn, await this.#itemsOf(queueArn, appends))
      const durationMs = performance.now() - startedAt
      return { result: { kind: 'response', statusCode: 200, durationMs }, followersSent, copy }
    } catch (error) {
      return { result: queueFailure(error, queueArn, performance.now() - startedAt), followersSent: 0 }
    }
  }

  /**
   * Appends all items in one write. A refusal does not say which item caused it, so the first item is then sent alone.
   */
  async #send(queueArn: string, items: QueueItem[]): Promise<number> {
    try {
      await this.#queues.send(queueArn, items)
      return items.length - 1
    } catch (error) {
      if (items.length === 1 || !isRefusal(error)) throw error
      await this.#queues.send(queueArn, items.slice(0, 1))
      return 0
    }
  }

  /**
   * The items before the first item that the queue refuses. The refused item gets its own attempt when it is the head
   * of its group. Throws if the first item is refused.
   */
  async #itemsOf(queueArn: string, appends: Iterable<QueueAppend>): Promise<QueueItem[]> {
    const items: QueueItem[] = []
    for (const { message, item } of appends) {
      const refusal = await this.#admission.refusalOf(queueArn, message, item)
      if (refusal && items.length === 0) throw refusal
      if (refusal) break
      items.push(item)
    }
    if (!(await this.#admission.seals(queueArn))) return items
    return items.map((item) => ({ ...item, sealed: true }))
  }
}

/**
 * A missing queue and a refused message are client errors for SNS, which are not retried:
 * https://docs.aws.amazon.com/sns/latest/dg/sns-dead-letter-queues.html
 */
function queueFailure(error: unknown, queueArn: string, durationMs: number): AttemptResult {
  const detail = error instanceof Error ? error.message : String(error)
  if (!(error instanceof FantailError))
    return { kind: 'failure', error: 'storage', detail, durationMs, permanent: false }
  if (error.code === 'key_unavailable') return { ...unopenedSecrets(error.cause, queueArn), durationMs }
  const missing = error.code === 'not_found'
  const failure = missing ? 'queue_missing' : 'queue_refused'
  const permanent = missing || isRefusal(error)
  return { kind: 'failure', error: failure, detail, durationMs, permanent, statusCode: error.status }
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof FantailError &&
    error.status < 500 &&
    error.code !== 'rate_limited' &&
    error.code !== 'not_found'
  )
}
