/**
 * The queue of one `fantail listen`, with a lease and subscribed to the topics. Ctrl-C deletes it. After a crash it
 * keeps new messages until its lease ends.
 */
import { randomBytes } from 'node:crypto'
import { type Client, createQueue, deleteQueue, subscribe } from '@fantail/client/api'

interface ListeningOptions {
  topics: string[]
  filterPolicy: Record<string, unknown> | undefined
  filterPolicyScope: 'MessageAttributes' | 'MessageBody'
  leaseSeconds: number
}

export class ListeningQueue {
  readonly name = `listen-${randomBytes(4).toString('hex')}`
  readonly #client: Client
  readonly #options: ListeningOptions

  constructor(client: Client, options: ListeningOptions) {
    this.#client = client
    this.#options = options
  }

  /** Makes the queue and its subscriptions. If they exist, nothing changes, so `open` may be called again. */
  async open(): Promise<void> {
    const { topics, filterPolicy, filterPolicyScope, leaseSeconds } = this.#options
    const client = this.#client
    const { arn } = await createQueue({ client, path: { queue: this.name }, body: { leaseSeconds } })
    for (const topic of topics) {
      const body = {
        protocol: 'sqs' as const,
        endpoint: arn,
        redrivePolicy: null,
        ...(filterPolicy && { filterPolicy, filterPolicyScope }),
      }
      await subscribe({ client, path: { topic }, body })
    }
  }

  /** Deletes the queue, and with it the subscriptions. `client` may be one whose requests still run after Ctrl-C. */
  async remove(client: Client): Promise<void> {
    await deleteQueue({ client, path: { queue: this.name } })
  }
}
