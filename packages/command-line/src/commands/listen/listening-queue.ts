/** Everything that `fantail listen` asks of the server: rights, a subscription to imitate, and its own queue. */
import { randomBytes } from 'node:crypto'
import {
  type Client,
  createQueue,
  deleteQueue,
  getSession,
  getSubscription,
  listWebhookKeys,
  subscribe,
} from '@fantail/client/api'
import { traitsOf } from '@fantail/policy'
import type { CommandContext } from '../../frame/command-context.ts'
import { confirm } from '../../frame/confirm.ts'
import { CommandError } from '../../output/exit-codes.ts'
import type { RequestForm } from './forwarded-request.ts'

interface ListeningOptions {
  topics: string[]
  filterPolicy: Record<string, unknown> | undefined
  filterPolicyScope: 'MessageAttributes' | 'MessageBody'
  leaseSeconds: number
}

/**
 * The queue of one `fantail listen`, with a lease and subscribed to the topics. Ctrl-C deletes it. After a crash it
 * keeps new messages until its lease ends.
 */
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

/**
 * `manage` is needed to make the queue, `read` to find topics and subscriptions, and `bodies` to see the texts of
 * messages.
 */
const SCOPES = ['manage', 'read', 'bodies'] as const

/** Throws unless the key has the scopes. If the server requires keys, a person must also agree. */
export async function checkRights(client: Client, what: string, context: CommandContext): Promise<void> {
  const { keysRequired, key } = await getSession({ client })
  if (!keysRequired) return
  const missing = SCOPES.filter((scope) => !key?.scopes.includes(scope))
  if (missing.length > 0) {
    const names = missing.join(' and ')
    throw new CommandError(
      'refused',
      `the key lacks the scope${missing.length === 1 ? '' : 's'} ${names}, which listen needs`,
      `fantail keys create --name listen ${SCOPES.map((scope) => `--scope ${scope}`).join(' ')}`,
    )
  }
  await confirm(what, context)
}

/** How a subscription gets its messages, for `fantail listen --as`. */
interface ListenedSubscription {
  topicArn: string
  filterPolicy: Record<string, unknown> | undefined
  filterPolicyScope: 'MessageAttributes' | 'MessageBody'
  form: Omit<RequestForm, 'headers' | 'secret'>
  isSigned: boolean
  /** Names of headers whose values only the server knows. */
  secretHeaders: string[]
}

const SNS_AGENT = 'Amazon Simple Notification Service Agent'

/** `id`: its id or ARN. */
export async function listenedSubscription(client: Client, id: string): Promise<ListenedSubscription> {
  const path = { id }
  const subscription = await getSubscription({ client, path })
  const { arn, topicArn, protocol, filterPolicy, filterPolicyScope, outbound } = subscription
  if (!traitsOf(protocol)?.takes.webhookKeys) {
    throw new CommandError(
      'usage',
      `--as must name a webhook subscription, and ${id} has the protocol ${protocol}`,
    )
  }
  const { webhookKeys } = await listWebhookKeys({ client, path })
  const { headerContentType } = subscription.effectiveDeliveryPolicy.requestPolicy
  return {
    topicArn,
    filterPolicy: filterPolicy ?? undefined,
    filterPolicyScope,
    form: {
      raw: subscription.rawMessageDelivery,
      contentType: headerContentType,
      userAgent: SNS_AGENT,
      subscriptionArn: arn,
    },
    isSigned: webhookKeys.length > 0,
    secretHeaders: [...(outbound?.headers ?? []), ...(outbound?.oauth ? ['Authorization'] : [])],
  }
}
