/** Appends dead deliveries to their dead-letter queues: one that a redrive policy names, or the topic's own. */
import { FantailError } from '@fantail/contracts'
import {
  type Envelope,
  type EnvelopeSigning,
  type QueueAdmission,
  queueBody,
  targetOfLetters,
} from '@fantail/delivery'
import { createStateLog, joinStates, type Logger, type ReportMember } from '@fantail/runtime'
import {
  type DeadState,
  deadLetterItemId,
  type LetterQuota,
  parseDeliveryId,
  type Queues,
  type ServerMark,
  type ServerMarks,
  type StorageGuard,
  shardBase,
  shardOf,
  type TopicQueues,
} from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'
import type { OutcomeRecorder } from '../reports/outcome-recorder.ts'
import type { Claimed } from '../settling/settling.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'

/**
 * Dead deliveries that wait to be signed. They use no slots, so slots do not limit their number. Past it: a dead
 * delivery returns to its lane, stays dead, and is claimed again later.
 */
const SIGNATURES_WAITING_MAX = 2_000
/** Names of a topic's own queue that one append tries. Past it: the dead letter waits and tries again. */
const NAMES_TRIED_MAX = 3

export interface DeadDelivery {
  claimed: Claimed
  subscription: CompiledSubscription
  context: MessageContext
  state: DeadState
}

type LetterTarget = { queueArn: string } | { topicArn: string }

type Appended =
  /** `restsOn`: the mark of the letter. If it no longer holds, the letter may be lost. */
  | { outcome: 'done'; queueArn: string; restsOn: ServerMark }
  | { outcome: 'missing'; queueArn: string }
  | { outcome: 'denied'; queueArn: string }
  /**
   * The letter must be appended later: the queue could not be reached, memory is full, or the letter could not be
   * signed.
   */
  | { outcome: 'later' }

interface LetterAppendsOptions {
  queues: Pick<Queues, 'send'>
  topicQueues: Pick<TopicQueues, 'arnOf' | 'send'>
  quota: Pick<LetterQuota, 'queueBytes' | 'stored'>
  servers: Pick<ServerMarks, 'mark'>
  admission: Pick<QueueAdmission, 'denies' | 'seals'>
  storageGuard: Pick<StorageGuard, 'admitDeadLetter'>
  signing: Pick<EnvelopeSigning, 'prepare' | 'waiting'>
  recorder: Pick<OutcomeRecorder, 'lettersRemoved'>
  log: Logger
  /** Epoch ms by Redis's clock. */
  now(): number
}

export class LetterAppends {
  readonly #options: LetterAppendsOptions
  /**
   * Reports failures for each queue, once until it works again. An unreachable queue is tried every two seconds for
   * each delivery, and would otherwise be reported as often.
   */
  readonly #report: ReportMember

  constructor(options: LetterAppendsOptions) {
    this.#options = options
    this.#report = joinStates(createStateLog({ log: options.log, what: 'dead_letters', initial: 'up' }))
  }

  /**
   * Appends the letter. A call may be repeated, because the id of the letter is made from that of its delivery. It
   * never rejects.
   */
  async append(dead: DeadDelivery, target: LetterTarget): Promise<Appended> {
    const name = 'queueArn' in target ? target.queueArn : target.topicArn
    try {
      const appended = await ('queueArn' in target
        ? this.#appendTo(dead, target.queueArn)
        : this.#appendToOwn(dead, target.topicArn))
      this.#report(name, appended.outcome === 'later' ? 'down' : 'up')
      return appended
    } catch (error) {
      const missing = error instanceof FantailError && error.code === 'not_found'
      this.#report(name, missing ? 'up' : 'down', error)
      const { messageId } = dead.context.message
      this.#options.log.debug({ queueArn: name, messageId, error: String(error) }, 'dead_letter.postponed')
      return missing && 'queueArn' in target ? { outcome: 'missing', ...target } : { outcome: 'later' }
    }
  }

  async #appendTo(dead: DeadDelivery, queueArn: string): Promise<Appended> {
    if (await this.#options.admission.denies(queueArn, dead.context.message)) {
      return { outcome: 'denied', queueArn }
    }
    await this.#options.storageGuard.admitDeadLetter()
    const letter = await this.#letterFor(dead, queueArn)
    const restsOn = this.#serverOf(queueArn)
    await this.#options.queues.send(queueArn, [letter])
    return { outcome: 'done', queueArn, restsOn }
  }

  /**
   * Appends to the topic's own queue. If somebody else has created a queue of this name meanwhile, the topic's queue
   * gets the next name.
   */
  async #appendToOwn(dead: DeadDelivery, topicArn: string): Promise<Appended> {
    const { topicQueues, quota, admission, storageGuard, recorder, log, now } = this.#options
    for (let tries = 0; tries < NAMES_TRIED_MAX; tries++) {
      const queueArn = await topicQueues.arnOf(topicArn)
      if (queueArn === null) throw new Error('other queues have all names of the topic’s own')
      if (await admission.denies(queueArn, dead.context.message)) return { outcome: 'denied', queueArn }
      await storageGuard.admitDeadLetter()
      const letter = await this.#letterFor(dead, queueArn)
      const bytesMax = quota.queueBytes
      const restsOn = this.#serverOf(queueArn)
      const sent = await topicQueues.send({ topicArn, queueArn, letter, bytesMax, now: now() })
      if (!sent) continue
      if (sent.made) log.info({ queueArn, topicArn }, 'queue.created')
      if (sent.removed > 0) recorder.lettersRemoved(dead.subscription.topicName, sent.removed, sent.letters)
      quota.stored()
      return { outcome: 'done', queueArn, restsOn }
    }
    return { outcome: 'later' }
  }

  /** Before the append. */
  #serverOf(queueArn: string) {
    return this.#options.servers.mark(shardBase(shardOf(queueArn)))
  }

  async #letterFor(dead: DeadDelivery, queueArn: string) {
    const { subscription, context, state, claimed } = dead
    const { messageId, generation } = parseDeliveryId(claimed.delivery)
    const { record } = subscription
    const deadLetter = {
      reason: state.cause,
      statusCode: state.statusCode,
      lastError: state.error,
      attempts: state.attempts,
      subscriptionArn: record.arn,
      topicArn: record.topicArn,
      messageId,
      generation,
      publishedAt: context.message.publishedAt,
      deadLetteredAt: this.#options.now(),
      message: context.message,
    }
    const item = queueBody(await this.#signed(dead), targetOfLetters(subscription.target), queueArn)
    const sealed = item.sealed || (await this.#options.admission.seals(queueArn))
    return { id: deadLetterItemId(record.id, claimed.delivery), ...item, sealed, deadLetter }
  }

  /** The envelope, signed as the endpoint would have got it. */
  async #signed({ subscription, context }: DeadDelivery): Promise<Envelope> {
    const { signature, target } = subscription
    const envelope = context.envelopeFor(signature)
    if (signature === undefined) return envelope
    if (this.#options.signing.waiting > SIGNATURES_WAITING_MAX) throw new Error('too much waits to be signed')
    await this.#options.signing.prepare(envelope, target)
    return envelope
  }
}

/** null: there is no queue, or the message is a confirmation, which never goes to a dead-letter queue. */
export function letterTarget({
  subscription: { record },
  context,
}: Pick<DeadDelivery, 'subscription' | 'context'>): LetterTarget | null {
  if (context.message.kind !== undefined && context.message.kind !== 'Notification') return null
  if (record.deadLetters === 'topicQueue') return { topicArn: record.topicArn }
  return record.redrivePolicy && { queueArn: record.redrivePolicy.deadLetterTargetArn }
}
