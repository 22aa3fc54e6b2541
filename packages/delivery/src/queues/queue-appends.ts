/** Attempts to queues of ours: the append is the attempt. Deliveries and tests of a subscription are made alike. */
import { type AttemptResult, FantailError, type Message } from '@fantail/contracts'
import type { CopyMark } from '../attempters/attempter.ts'
import type { QueueBody } from '../envelope/envelope.ts'
import type { QueueAdmission } from './queue-admission.ts'

/** `id` names it to the queue, so that an append that is repeated changes nothing. */
type QueueItem = QueueBody & { id?: string }

export interface QueueAppend {
  message: Message
  item: QueueItem
}

interface QueueAppendsOptions {
  queues: { send(queueArn: string, items: QueueItem[]): Promise<unknown> }
  admission: Pick<QueueAdmission, 'refusalOf'>
  /** Marks what is about to be appended to the queue; absent: nothing is deleted because of it. */
  mark?(queueArn: string): CopyMark
}

interface Appended {
  result: AttemptResult
  /** How many of the run were appended with it; the others are attempted when their turn comes. */
  along: number
  copy?: CopyMark | undefined
}

export class QueueAppends {
  readonly #queues: QueueAppendsOptions['queues']
  readonly #admission: Pick<QueueAdmission, 'refusalOf'>
  readonly #mark: QueueAppendsOptions['mark']

  constructor({ queues, admission, mark }: QueueAppendsOptions) {
    this.#queues = queues
    this.#admission = admission
    this.#mark = mark
  }

  /**
   * Never rejects. The first is the attempt's own; the others are what may go along, in order. An append that succeeds
   * is a 200, the status that SQS would answer.
   */
  async append(queueArn: string, appends: Iterable<QueueAppend>): Promise<Appended> {
    const startedAt = performance.now()
    const copy = this.#mark?.(queueArn)
    try {
      const along = await this.#send(queueArn, await this.#itemsOf(queueArn, appends))
      const durationMs = performance.now() - startedAt
      return { result: { kind: 'response', statusCode: 200, durationMs }, along, copy }
    } catch (error) {
      return { result: queueFailure(error, performance.now() - startedAt), along: 0 }
    }
  }

  /**
   * All items in one write. A refusal by the queue does not say which item caused it, so the first is then sent alone.
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

  /** One that may not go ends the run: it is refused when it is its group's head. Throws where the first may not go. */
  async #itemsOf(queueArn: string, appends: Iterable<QueueAppend>): Promise<QueueItem[]> {
    const items: QueueItem[] = []
    for (const { message, item } of appends) {
      const refusal = await this.#admission.refusalOf(queueArn, message, item)
      if (refusal !== undefined && items.length === 0) throw new FantailError('forbidden', refusal)
      if (refusal !== undefined) break
      items.push(item)
    }
    return items
  }
}

/** A missing queue and a message it cannot take are errors of the client's side, which are not retried:
 *  https://docs.aws.amazon.com/sns/latest/dg/sns-dead-letter-queues.html */
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
