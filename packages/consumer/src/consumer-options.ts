/** The options of a consumer. They are checked before anything is received. */
import type { AttemptCounts } from './attempt-counts.ts'
import type { Idempotency } from './message-claims.ts'
import { HIDDEN_SECONDS_MAX, type MessageSource, type QueueMessage } from './sources/messages.ts'

export interface FailedAttempt {
  message: QueueMessage
  /** How often the queue has delivered the message to a consumer. */
  receiveCount: number
  /**
   * How often a handler has begun the message. `attempts` counts this if it is set. Otherwise it equals `receiveCount`.
   */
  attempt: number
  error: unknown
}

export interface ConsumerOptions {
  /** Messages that are handled at the same time. Default: 10. */
  concurrency?: number
  /** How long a message is hidden from other consumers, 1 to 43,200. Default: 30. A heartbeat renews it at half. */
  visibilitySeconds?: number
  /** How long one request waits for messages, 0 to 20. Default: 20. */
  waitSeconds?: number
  /** Keeps a message hidden while its handler runs, up to 12 hours. Default: true. */
  heartbeat?: boolean
  /** After this time the handler's signal aborts and the message counts as failed. Default: no limit. */
  handlerTimeoutSeconds?: number
  /**
   * Seconds until a failed message is visible again. Undefined: when its visibility time ends. Default: a random time
   * up to 2^receiveCount seconds, at most 15 minutes.
   */
  backoff?: (failed: FailedAttempt) => number | undefined
  /** Handles each message once. Default: a message may be handled again. */
  idempotency?: Idempotency
  /** The key of a message for `idempotency` and `attempts`. Default: its id. */
  keyOf?: (message: QueueMessage) => string
  /** Counts the attempts of handlers outside of the queue. */
  attempts?: AttemptCounts
  /**
   * A message that was received more often than `after` is sent to the queue `to` and then deleted. Only for a foreign
   * SQS queue without a redrive policy. Fantail moves such messages itself, by the queue's redrive policy.
   */
  poison?: { after: number; to: string }
}

export type Settings = ReturnType<typeof settingsOf>

/** Backoff of a failed message, if the caller sets none. Past it: the backoff does not grow. */
const CONSUMER_BACKOFF_SECONDS_MAX = 900
/** @limit Messages that one consumer handles at the same time. Past it: a consumer is refused. */
const HANDLED_AT_ONCE_MAX = 1_000
/** How long one receive may wait for messages. Past it: the consumer is refused. */
const CONSUMER_WAIT_SECONDS_MAX = 20

/** Throws `TypeError` if an option cannot be used. */
export function settingsOf(options: ConsumerOptions, source: MessageSource) {
  const settings = {
    concurrency: whole('concurrency', options.concurrency ?? 10, 1, HANDLED_AT_ONCE_MAX),
    visibilitySeconds: whole('visibilitySeconds', options.visibilitySeconds ?? 30, 1, HIDDEN_SECONDS_MAX),
    waitSeconds: whole(
      'waitSeconds',
      options.waitSeconds ?? CONSUMER_WAIT_SECONDS_MAX,
      0,
      CONSUMER_WAIT_SECONDS_MAX,
    ),
    heartbeat: options.heartbeat ?? true,
    handlerTimeoutMs: timeoutOf(options.handlerTimeoutSeconds),
    backoff: options.backoff ?? fullJitter,
    idempotency: options.idempotency,
    keyOf: options.keyOf ?? (({ id }: QueueMessage) => id),
    attempts: options.attempts,
    poison: options.poison,
  }
  if (settings.poison) checkPoison(settings.poison, source)
  return settings
}

function fullJitter({ receiveCount }: FailedAttempt): number {
  return Math.ceil(Math.random() * Math.min(2 ** receiveCount, CONSUMER_BACKOFF_SECONDS_MAX))
}

function whole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new TypeError(`${name} must be a whole number from ${min} to ${max}, not ${value}`)
}

function timeoutOf(seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined
  if (seconds > 0 && seconds <= HIDDEN_SECONDS_MAX) return seconds * 1_000
  throw new TypeError(
    `handlerTimeoutSeconds must be more than 0 and at most ${HIDDEN_SECONDS_MAX}, not ${seconds}`,
  )
}

function checkPoison({ after, to }: { after: number; to: string }, source: MessageSource): void {
  if (!source.copyTo)
    throw new TypeError(
      `poison cannot be set for ${source.name}: Fantail moves such messages itself. ` +
        'Set maxReceiveCount and a dead-letter queue in the redrive policy of the queue.',
    )
  whole('poison.after', after, 1, 1_000)
  if (to === '') throw new TypeError('poison.to must name a queue')
}
