/**
 * Makes attempts at queues. An attempt at a queue of this Fantail appends one message, or several messages of a FIFO
 * group. An attempt at a queue outside of it sends one message by SQS's API.
 */
import { LRUCache } from 'lru-cache'
import type { AwsCredentials } from '../aws/aws-credentials.ts'
import { AwsSigner } from '../aws/aws-signer.ts'
import { queueBody } from '../envelope/envelope.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import type { HttpSender } from '../http/http-sender.ts'
import type { QueueAppend, QueueAppends } from '../queues/queue-appends.ts'
import { placeOfQueue, type QueuePlace, type QueueSettings } from '../queues/queue-places.ts'
import { QueueSends } from '../queues/queue-sends.ts'
import type { Attempt, AttemptDone, Attempter, Outgoing } from './attempter.ts'

export interface QueueEndpointSettings {
  /** FANTAIL_AWS_QUEUES */
  awsQueues?: Readonly<Record<string, string>> | undefined
  /** FANTAIL_AWS_CREDENTIALS */
  awsClientCredentials?: AwsCredentials | undefined
  /** FANTAIL_AWS_TARGETS */
  awsTargets?: readonly string[] | undefined
  /** FANTAIL_ATTEMPT_TIMEOUT_MS */
  attemptTimeoutMs?: number | undefined
}

/** Queues of which a process remembers where they are. Past it: the place is looked up again. */
const PLACES_MAX = 1_000
const HERE = 'here'

export interface QueueAttempterOptions {
  sender: Pick<HttpSender, 'send'>
  /** Epoch ms. A signature contains this time. */
  clock: () => number
  appends: Pick<QueueAppends, 'append'>
  /**
   * The id of a delivery in the queue. If the same delivery is appended again, the queue recognizes the id and changes
   * nothing.
   */
  itemIdOf(subscriptionId: string, delivery: Buffer): string
}

export class QueueAttempter implements Attempter {
  readonly #options: QueueAttempterOptions
  /** Undefined: every queue is one of this Fantail. */
  readonly #outside: QueueSettings | undefined
  readonly #sends: QueueSends
  readonly #places = new LRUCache<string, QueuePlace | typeof HERE>({ max: PLACES_MAX })

  constructor(options: QueueAttempterOptions, settings: QueueEndpointSettings = {}) {
    const { awsQueues: queues, awsClientCredentials: credentials, awsTargets: targets = [] } = settings
    this.#options = options
    this.#sends = new QueueSends({ ...options, attemptTimeoutMs: settings.attemptTimeoutMs })
    const aws = credentials && new AwsSigner({ credentials, targets })
    if (queues || aws) this.#outside = { queues, aws }
  }

  credentialOf({ url }: EndpointTarget): string | undefined {
    return this.#placeOf(url)?.credential
  }

  contentOf({ envelope }: Outgoing, target: EndpointTarget): string {
    return queueBody(envelope, target, target.url).body
  }

  /** A queue of this Fantail has no connection to open. Connections to others stay open. */
  openAhead(): void {}

  attempt(attempt: Attempt, done: AttemptDone): void {
    const { target, envelope, delivery } = attempt
    const place = this.#placeOf(target.url)
    if (place) {
      // SQS may store some messages of a request and refuse others, so a group's messages go one after the other.
      const body = queueBody(envelope, target, target.url, delivery)
      return void this.#sends.send(place, body, (result) => done(result))
    }
    const appending = this.#options.appends.append(target.url, this.#itemsOf(attempt))
    void appending.then(({ result, followersSent, copy }) => done(result, followersSent, copy))
  }

  /** The creators of the sender and of the connection to Redis close them. */
  async close(): Promise<void> {}

  #placeOf(arn: string): QueuePlace | undefined {
    if (!this.#outside) return undefined
    let place = this.#places.get(arn)
    if (place === undefined) {
      place = placeOfQueue(arn, this.#outside) ?? HERE
      this.#places.set(arn, place)
    }
    return place === HERE ? undefined : place
  }

  /** Renders each message only when it is needed. */
  *#itemsOf(attempt: Attempt): Generator<QueueAppend> {
    yield this.#itemOf(attempt.target, attempt)
    for (const sent of attempt.followers ?? []) yield this.#itemOf(attempt.target, sent)
  }

  #itemOf(target: EndpointTarget, { envelope, delivery }: Outgoing): QueueAppend {
    const body = queueBody(envelope, target, target.url, delivery)
    const { subscriptionId } = target
    const id = delivery && this.#options.itemIdOf(subscriptionId, delivery)
    return { message: envelope.message, item: id === undefined ? body : { id, ...body } }
  }
}
