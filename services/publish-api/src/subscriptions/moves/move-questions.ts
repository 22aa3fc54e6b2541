/**
 * Asks the new endpoint of a moving subscription to confirm. The question cannot go through the subscription's lane,
 * because that leads to the old endpoint and may be delayed by it. So the API process that handled the request asks,
 * and repeats a failed question by the subscription's retry policy, as a lane would. When the process stops, the
 * question is lost. A caller can then move the subscription again.
 *
 * asked ─ 2xx, or refused permanently → done
 *   └─ failed → waits ─ the same token still counts → asked
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  type AttemptResult,
  createMessageId,
  type Message,
  type SubscriptionRecord,
  type TopicRecord,
} from '@fantail/contracts'
import { effectivePolicy, type NextStep, nextStep } from '@fantail/policy'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { CONFIRMATION_TEXT } from '../confirmations.ts'
import { attemptMessage, shownResult } from '../test-attempt.ts'

/**
 * Questions to confirm a move that one API process repeats at a time. Past it: a failed question is not repeated, and
 * `send-confirmation` asks again.
 */
const QUESTIONS_WAITING_MAX = 1_000
/** The pause after a failed read of the subscription. */
const READ_AGAIN_MS = 1_000

type QuestionDeps = Pick<
  ApiDeps,
  'subscriptions' | 'topics' | 'attempters' | 'signing' | 'clock' | 'settings' | 'log'
>

interface Question {
  subscriptionId: string
  token: string
  message: Message
}

type Moving = SubscriptionRecord & { move: object }

export class MoveQuestions {
  readonly #deps: QuestionDeps
  readonly #stopped = new AbortController()
  #waiting = 0

  constructor(deps: QuestionDeps) {
    this.#deps = deps
  }

  /**
   * Never rejects. Resolves when the request to confirm will not be repeated. A later one for the same subscription has
   * another token, and ends this one.
   */
  async ask({ id: subscriptionId, topicArn, token }: SubscriptionRecord, publicUrl: string): Promise<void> {
    if (token === null) return
    const publishedAt = this.#deps.clock()
    const message: Message = {
      messageId: createMessageId(publishedAt),
      topicArn,
      publishedAt,
      message: CONFIRMATION_TEXT(topicArn),
      kind: 'SubscriptionConfirmation',
      token,
      publicUrl,
    }
    await this.#askUntilDone({ subscriptionId, token, message })
  }

  stop(): void {
    this.#stopped.abort()
  }

  async #askUntilDone(question: Question): Promise<void> {
    const { subscriptionId, message } = question
    try {
      for (let attempts = 1; !this.#stopped.signal.aborted; attempts++) {
        const moving = await this.#readMoving(question)
        if (!moving) return
        const step = await this.#askOnce(moving, message, attempts)
        if (step.step !== 'retry' || this.#waiting >= QUESTIONS_WAITING_MAX) return
        await this.#wait(step.delayMs)
      }
    } catch (error) {
      if (this.#stopped.signal.aborted) return
      const { topicArn } = message
      this.#deps.log.warn({ subscriptionId, topicArn, err: error }, 'subscription_move.ask_failed')
    }
  }

  /** Repeats a read that fails, so that an outage of Redis does not end the question. */
  async #readMoving(question: Question): Promise<[Moving, TopicRecord] | undefined> {
    for (;;) {
      try {
        return await this.#movingBy(question)
      } catch (error) {
        if (this.#stopped.signal.aborted || this.#waiting >= QUESTIONS_WAITING_MAX) throw error
        await this.#wait(READ_AGAIN_MS)
      }
    }
  }

  /** Undefined if the move has ended or was given up, or if another question was asked. */
  async #movingBy({ subscriptionId, token }: Question): Promise<[Moving, TopicRecord] | undefined> {
    const { subscriptions, topics, clock } = this.#deps
    const record = await subscriptions.get(subscriptionId)
    if (!record?.move || record.token !== token || (record.tokenExpiresAt ?? 0) <= clock()) return undefined
    const topic = await topics.get(record.topicArn)
    return topic ? [{ ...record, move: record.move }, topic] : undefined
  }

  async #askOnce(
    [record, topic]: [Moving, TopicRecord],
    message: Message,
    attempts: number,
  ): Promise<NextStep> {
    const { log } = this.#deps
    const result = await attemptMessage(this.#deps, { record: { ...record, ...record.move }, topic, message })
    const step = this.#next(result, record, topic, attempts)
    const { id: subscriptionId, topicArn } = record
    const { step: decision } = step
    log.info(
      { subscriptionId, topicArn, attempts, decision, ...shownResult(result) },
      'subscription.move_asked',
    )
    return step
  }

  #next(result: AttemptResult, record: SubscriptionRecord, topic: TopicRecord, attempts: number): NextStep {
    const { retryJitter: jitter, maxRetrySeconds } = this.#deps.settings
    const { healthyRetryPolicy: policy } = effectivePolicy(topic, record)
    const { protocol } = record
    return nextStep({ result, protocol, attempts, policy, jitter, random: Math.random, maxRetrySeconds })
  }

  async #wait(delayMs: number): Promise<void> {
    this.#waiting += 1
    try {
      await delay(delayMs, undefined, { signal: this.#stopped.signal, ref: false })
    } finally {
      this.#waiting -= 1
    }
  }
}
