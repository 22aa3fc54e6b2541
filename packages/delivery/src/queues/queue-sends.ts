/**
 * Sends messages to queues outside of this Fantail, by SQS's SendMessageBatch. The messages of all attempts at a queue
 * that begin within a few milliseconds share a request, because AWS charges for requests.
 *
 * A queue has at most one batch that gathers. It is sent when its time is over, or when the next message does not fit.
 * The entries of a FIFO queue are heads of different groups, so a failed entry changes no order.
 */
import type { AttemptResult, MessageAttribute } from '@fantail/contracts'
import { type AwsCaller, callAws } from '../aws/aws-call.ts'
import { attemptDeadline } from '../bounds/attempt-deadline.ts'
import { ProvidersUnderWay, refusedBy } from '../bounds/under-way.ts'
import type { QueueBody } from '../envelope/envelope.ts'
import { failure } from '../http/attempt-failure.ts'
import type { QueuePlace } from './queue-places.ts'
import { readSends, type SendResults } from './send-answer.ts'

/** Messages of one SendMessageBatch, as in SQS. Past it: the next message begins another request. */
const SENDS_MAX = 10
/** Bytes of the entries of one SendMessageBatch. Past it: the next message begins another request. */
const SENDS_BYTES_MAX = 262_144
/** Time that the first message of a SendMessageBatch waits for others. After it: the request is sent. */
const SENDS_LINGER_MS = 5
/** Answer of a queue that is read. Past it: all messages of the request are sent again. */
const SENDS_ANSWER_BYTES_MAX = 65_536

const SENDING = {
  service: 'sqs',
  version: '1.0',
  target: 'AmazonSQS.SendMessageBatch',
  answerBytesMax: SENDS_ANSWER_BYTES_MAX,
} as const

interface QueueSendsOptions extends AwsCaller {
  /** FANTAIL_ATTEMPT_TIMEOUT_MS */
  attemptTimeoutMs?: number | undefined
}

type Done = (result: AttemptResult) => void

/** A message of a batch. */
interface Entry {
  /** Names it in its request. */
  id: string
  json: string
}

interface Batch {
  place: QueuePlace
  entries: Entry[]
  done: Done[]
  bytes: number
  timer: NodeJS.Timeout | undefined
}

export class QueueSends {
  readonly #options: QueueSendsOptions
  readonly #underWay = new ProvidersUnderWay()
  /** The batch that gathers, by the queue's URL. */
  readonly #gathering = new Map<string, Batch>()
  #entries = 0

  constructor(options: QueueSendsOptions) {
    this.#options = options
  }

  /** Calls `done` once, never before it has returned. Every failure is a result. */
  send(place: QueuePlace, body: QueueBody, done: Done): void {
    const { queueUrl } = place
    const known = this.#gathering.get(queueUrl)
    const entry = entryOf(body, String(this.#entries++))
    const bytes = Buffer.byteLength(entry.json)
    if (known && known.bytes + bytes <= SENDS_BYTES_MAX) return void this.#add(known, entry, bytes, done)
    if (known) this.#close(known)
    const timer = setTimeout(() => this.#close(batch), SENDS_LINGER_MS)
    const batch: Batch = { place, entries: [], done: [], bytes: 0, timer }
    this.#gathering.set(queueUrl, batch)
    this.#add(batch, entry, bytes, done)
  }

  #add(batch: Batch, entry: Entry, bytes: number, done: Done): void {
    batch.entries.push(entry)
    batch.done.push(done)
    batch.bytes += bytes
    if (batch.entries.length === SENDS_MAX) this.#close(batch)
  }

  #close(batch: Batch): void {
    clearTimeout(batch.timer)
    this.#gathering.delete(batch.place.queueUrl)
    void this.#sendAll(batch)
  }

  /** A refusal does not say which message caused it, so each is then sent alone, before the same deadline. */
  async #sendAll({ place, entries, done }: Batch): Promise<void> {
    const signal = attemptDeadline(this.#options.attemptTimeoutMs)
    const sent = await this.#request(place, entries, signal)
    const isRepeated = entries.length > 1 && 'refused' in sent && sent.byContent && !signal.aborted
    for (const [i, end] of done.entries()) {
      if (!isRepeated) end(resultAt(sent, i))
      else void this.#request(place, entries.slice(i, i + 1), signal).then((alone) => end(resultAt(alone, 0)))
    }
  }

  async #request(place: QueuePlace, entries: readonly Entry[], signal: AbortSignal): Promise<SendResults> {
    const underWay = this.#underWay.of(place.host)
    if (!underWay.begin()) return { refused: refusedBy(underWay), byContent: false }
    try {
      const list = entries.map(({ json }) => json).join()
      const body = `{"QueueUrl":${JSON.stringify(place.queueUrl)},"Entries":[${list}]}`
      const answer = await callAws(this.#options, place, { ...SENDING, body, signal })
      if (answer.response) underWay.answered()
      const ids = entries.map(({ id }) => id)
      return readSends(answer, ids)
    } finally {
      underWay.end()
    }
  }
}

const NO_RESULT = failure('invalid_response', 'the queue has no result for the message', 0)

function resultAt(sent: SendResults, index: number): AttemptResult {
  return 'refused' in sent ? sent.refused : (sent.results[index] ?? NO_RESULT)
}

/** The entry in SQS's members. */
function entryOf({ body, attributes, groupId, deduplicationId, traceHeader }: QueueBody, id: string): Entry {
  const names = Object.keys(attributes)
  const json = JSON.stringify({
    Id: id,
    MessageBody: body,
    ...(names.length > 0 && { MessageAttributes: attributesOf(attributes) }),
    ...(traceHeader !== undefined && {
      MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: traceHeader } },
    }),
    ...(groupId !== undefined && { MessageGroupId: groupId }),
    ...(deduplicationId !== undefined && { MessageDeduplicationId: deduplicationId }),
  })
  return { id, json }
}

function attributesOf(attributes: Record<string, MessageAttribute>): object {
  const entries = Object.entries(attributes).map(([name, { type, value }]) => {
    const content = type.startsWith('Binary') ? { BinaryValue: value } : { StringValue: value }
    return [name, { DataType: type, ...content }] as const
  })
  return Object.fromEntries(entries)
}
