/**
 * The admission check: permanent reasons to refuse a message before it is appended to a queue. They are the queue's
 * access policy, its maximum size, and SQS's own rules. The settings may be a second old, so one look-up is enough for
 * all messages of a second.
 */
import {
  FantailError,
  isSealing,
  type Message,
  messageBytes,
  parseArn,
  QUEUE_MESSAGE_ATTRIBUTES_MAX,
  QUEUE_MESSAGE_BYTES_MAX,
  type QueueRecord,
  UNSENDABLE_TEXT,
  unsendable,
  unsendableAttribute,
} from '@fantail/contracts'
import {
  type AccessPolicy,
  type KmsKeys,
  type KmsProblem,
  kmsProblem,
  type Organizations,
  parseAccessPolicy,
  takesFromTopic,
} from '@fantail/policy'
import { LRUCache } from 'lru-cache'
import type { QueueBody } from '../envelope/envelope.ts'

/** Age of the queue's settings that an admission check uses. Past it: they are read again. */
const ADMISSION_AGE_MS_MAX = 1_000
/** Queues whose settings an admission check keeps. Past it: the least recently used one is forgotten. */
const ADMISSION_QUEUES_MAX = 1_000

/** Why a queue with a KMS key refuses a topic, and its dead letters. */
const KEY_PROBLEMS: Record<KmsProblem, string> = {
  NotFound: 'the queue names a key that does not exist',
  Disabled: 'the queue’s key is disabled',
  AccessDenied: 'the queue’s key is not for the topic’s account',
}

interface Settings {
  get(queueArn: string): Promise<QueueRecord | null>
}

interface Rules {
  policy: AccessPolicy | undefined
  tags: QueueRecord['tags']
  bytesMax: number
  seals: boolean
  /** The KMS key that the queue names. */
  keyId: string | undefined
}

interface QueueAdmissionOptions {
  queues: Settings
  /** Epoch ms. */
  clock: () => number
  organizations?: Organizations
  kmsKeys?: KmsKeys
}

interface Known {
  rules: Rules | null
  /** When the look-up began, by performance.now(). The age counts from then, as the settings may be that old. */
  askedAt: number
  tookMs: number
}

export class QueueAdmission {
  readonly #options: QueueAdmissionOptions
  readonly #known = new LRUCache<string, Known>({ max: ADMISSION_QUEUES_MAX })
  readonly #asking = new Map<string, Promise<Rules | null>>()

  constructor(options: QueueAdmissionOptions) {
    this.#options = options
  }

  /**
   * The reason why the queue will never accept this item. Undefined: there is none. If the queue is missing, the append
   * reports that, and not this check.
   */
  async refusalOf(
    queueArn: string,
    { topicArn }: Message,
    item: QueueBody,
  ): Promise<FantailError | undefined> {
    const { length: attributes } = Object.keys(item.attributes)
    if (attributes > QUEUE_MESSAGE_ATTRIBUTES_MAX) {
      return unfit(
        `Number of message attributes [${attributes}] exceeds the maximum allowed [${QUEUE_MESSAGE_ATTRIBUTES_MAX}].`,
      )
    }
    if (unsendable(item.body)) return unfit(`a text for a queue ${UNSENDABLE_TEXT}`)
    const odd = Object.entries(item.attributes).find(([, attribute]) => unsendableAttribute(attribute))
    if (odd) return unfit(`a queue does not take the type or value of the attribute '${odd[0]}'`)
    const rules = await this.#rulesFor(queueArn)
    if (!rules) return undefined
    if (messageBytes(item.body, item.attributes) > rules.bytesMax) {
      return unfit(`the queue takes at most ${rules.bytesMax} bytes`)
    }
    const problem = this.#keyProblem(rules, topicArn)
    if (problem) return forbidden(KEY_PROBLEMS[problem])
    if (this.#takes(rules, queueArn, topicArn)) return undefined
    return forbidden('the queue’s policy does not let the topic send')
  }

  /** Whether the queue wants its messages sealed. */
  async seals(queueArn: string): Promise<boolean> {
    return (await this.#rulesFor(queueArn))?.seals ?? false
  }

  /** Whether the queue's policy, or its key, refuses this topic's messages. */
  async denies(queueArn: string, { topicArn }: Message): Promise<boolean> {
    const rules = await this.#rulesFor(queueArn)
    return (
      rules !== null &&
      (this.#keyProblem(rules, topicArn) !== undefined || !this.#takes(rules, queueArn, topicArn))
    )
  }

  #keyProblem({ keyId }: Rules, topicArn: string): KmsProblem | undefined {
    if (keyId === undefined) return undefined
    return kmsProblem(keyId, parseArn(topicArn)?.account ?? '', this.#options.kmsKeys)
  }

  #takes({ policy, tags }: Rules, resource: string, topicArn: string): boolean {
    const { clock, organizations } = this.#options
    return takesFromTopic(policy, { resource, topicArn, tags, now: clock(), organizations })
  }

  /**
   * Behind a slow Redis, the next look-up begins while the last one is still valid. Otherwise the messages of each
   * second would wait for it.
   */
  async #rulesFor(queueArn: string): Promise<Rules | null> {
    const known = this.#known.get(queueArn)
    const leftMs = known ? known.askedAt + ADMISSION_AGE_MS_MAX - performance.now() : 0
    if (!known || leftMs <= 0) return this.#ask(queueArn)
    if (leftMs < 2 * known.tookMs)
      // The next caller without valid settings gets the error.
      this.#ask(queueArn).catch(() => undefined)
    return known.rules
  }

  #ask(queueArn: string): Promise<Rules | null> {
    const asking = this.#asking.get(queueArn) ?? this.#lookUp(queueArn)
    this.#asking.set(queueArn, asking)
    return asking
  }

  /** Every caller of a failed look-up gets its error. The next caller looks up again. */
  async #lookUp(queueArn: string): Promise<Rules | null> {
    const askedAt = performance.now()
    try {
      const queue = await this.#options.queues.get(queueArn)
      const rules = queue && rulesOf(queue)
      this.#known.set(queueArn, { rules, askedAt, tookMs: performance.now() - askedAt })
      return rules
    } finally {
      this.#asking.delete(queueArn)
    }
  }
}

function rulesOf(queue: QueueRecord): Rules {
  const { attributes, tags, maximumMessageBytes: bytesMax = QUEUE_MESSAGE_BYTES_MAX } = queue
  const policy = attributes.Policy === undefined ? undefined : parseAccessPolicy(attributes.Policy)
  return { policy, tags, bytesMax, seals: isSealing(queue), keyId: attributes.KmsMasterKeyId || undefined }
}

function forbidden(message: string): FantailError {
  return new FantailError('forbidden', message)
}

function unfit(message: string): FantailError {
  return new FantailError('validation_failed', message)
}
