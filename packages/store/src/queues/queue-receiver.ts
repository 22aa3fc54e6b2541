/** Receives messages. Messages that were received too often are moved to the dead-letter queue on the way. */
import { randomBytes } from 'node:crypto'
import type { QueueMessage } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import type { BodySeals, SealKeyError } from '../records/sealed-messages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { NUMBER } from '../scripts/lua-numbers.ts'
import { AttemptChangedError, OverLimitError, queueMissing } from './items/queue-errors.ts'
import { type ItemReply, readItems, SECRET_BYTES } from './items/queue-items.ts'
import {
  atQueue,
  type QueueUse,
  type Received,
  type ReceiveRefusal,
  type ReceiveRequest,
} from './items/queue-records.ts'
import { openTaken } from './items/received-items.ts'
import { kindOf } from './kinds/queue-kind.ts'
import type { QueueMover } from './queue-mover.ts'
import type { UnreadableItems } from './upkeep/unreadable-items.ts'

const GIVE_BACK = readScript('give-back-messages-1')

/**
 * Rounds of one receive that finds messages to move, locked or too old. Past it: it answers with the messages that it
 * has. After a move, or if nothing that was read can be returned, a receive makes another round.
 */
const RECEIVE_ROUNDS_MAX = 10

type ReceiveReply = [
  uid: Buffer,
  nextInMs: number,
  target: Buffer,
  messages: ItemReply[],
  moves: ItemReply[],
  full: number,
  refused?: Buffer,
]

/** One script call of a receive. */
interface ReceiveRound {
  again: boolean
  nextInMs: number
  overLimit: boolean
  refused: ReceiveRefusal | undefined
  locked: SealKeyError | undefined
}

interface QueueReceiverOptions {
  redis: Redis
  mover: QueueMover
  unreadable: UnreadableItems
  inFlightMax: number
  onProblem: (error: Error) => void
  use: QueueUse | undefined
  seals: BodySeals | undefined
}

export class QueueReceiver {
  readonly #options: QueueReceiverOptions

  constructor(options: QueueReceiverOptions) {
    this.#options = options
  }

  /**
   * Messages that are visible now, without waiting (QueueWaits waits). Throws `not_found`, OverLimitError or
   * AttemptChangedError. If there are only messages whose key is missing, throws a SealKeyError. The receive does not
   * count for these, and they stay hidden for a minute.
   */
  async receive(arn: string, request: ReceiveRequest): Promise<QueueMessage[]> {
    const { messages, overLimit } = await this.receiveOnce(arn, request)
    if (messages.length > 0) return messages
    if (overLimit) throw new OverLimitError()
    this.#options.use?.emptyReceive(arn)
    return messages
  }

  /** Like `receive`. Also returns when the next message becomes visible. */
  async receiveOnce(arn: string, request: ReceiveRequest): Promise<Received> {
    const received = await this.#receiveRounds(arn, request)
    if (received.messages.length > 0) this.#options.use?.received(arn, received.messages.length)
    return received
  }

  async #receiveRounds(arn: string, request: ReceiveRequest): Promise<Received> {
    const messages: QueueMessage[] = []
    let firstLocked: SealKeyError | undefined
    for (let round = 1; ; round++) {
      let once: ReceiveRound
      try {
        once = await this.#receiveOnce(arn, request, messages, round)
      } catch (error) {
        // The caller gets the received messages. A failed move is repeated when its lease has ended.
        if (messages.length === 0) throw error
        this.#options.onProblem(error as Error)
        return { messages, nextVisibleInMs: 0, overLimit: false }
      }
      const { again, nextInMs, overLimit, refused, locked } = once
      firstLocked ??= locked
      if (!again || messages.length >= request.maxMessages || round === RECEIVE_ROUNDS_MAX) {
        if (firstLocked && messages.length === 0) throw firstLocked
        return {
          messages,
          nextVisibleInMs: nextInMs < 0 ? null : nextInMs,
          overLimit,
          ...(refused !== undefined && { refused }),
        }
      }
    }
  }

  /** Adds to `messages`. `again`: the script read messages that it could not return, so another round is useful. */
  async #receiveOnce(
    arn: string,
    request: ReceiveRequest,
    messages: QueueMessage[],
    round: number,
  ): Promise<ReceiveRound> {
    const { redis, mover, unreadable, inFlightMax, seals } = this.#options
    const kind = kindOf(arn)
    const wanted = request.maxMessages - messages.length
    const secrets = newSecrets(wanted)
    const timeout = request.visibilityTimeoutSeconds
    const args = {
      ...atQueue(arn),
      messagesMax: wanted,
      visibilityMs: timeout === undefined ? null : Math.round(timeout * 1_000),
      inFlightMax,
      pushConsumerText: request.consumer === undefined ? '' : JSON.stringify(request.consumer),
    }
    const reply = (await kind.receive(redis, args, {
      secrets,
      attemptId: request.attemptId,
      round,
    })) as ReceiveReply | 0 | null
    if (reply === null) throw queueMissing()
    if (reply === 0) throw new AttemptChangedError()
    const [uid, nextInMs, target, received, moves, full, why] = reply
    const moved = readItems(moves)
    const toRemove = [...moved.unreadable]
    const opened = openTaken(received, { arn, uid: String(uid), secrets, seals })
    const { withheld, locked } = opened
    toRemove.push(...opened.unreadable)
    for (const message of opened.messages) put(messages, message)
    await this.#giveBack(arn, withheld, request)
    await unreadable.remove(arn, toRemove)
    await mover.move(arn, String(target), moved.items)
    const again = moves.length > 0 || (messages.length === 0 && (nextInMs === 0 || toRemove.length > 0))
    const refused = why === undefined ? undefined : (String(why) as ReceiveRefusal)
    return { nextInMs, again, overLimit: full === 1, refused, locked }
  }

  async #giveBack(
    arn: string,
    taken: ReturnType<typeof openTaken>['withheld'],
    { attemptId: attempt = '' }: ReceiveRequest,
  ): Promise<void> {
    if (taken.length === 0) return
    await runScript(this.#options.redis, GIVE_BACK, { ...atQueue(arn), ms: NUMBER.LOCKED_MS, attempt, taken })
  }
}

/** With a visibility timeout of 0, two rounds may return the same message. Its newest handle counts. */
function put(messages: QueueMessage[], message: QueueMessage): void {
  const at = messages.findIndex(({ messageId }) => messageId === message.messageId)
  if (at < 0) messages.push(message)
  else messages[at] = message
}

function newSecrets(count: number): Buffer[] {
  const bytes = randomBytes(count * SECRET_BYTES)
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * SECRET_BYTES, (i + 1) * SECRET_BYTES))
}
