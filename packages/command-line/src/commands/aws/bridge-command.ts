/**
 * `fantail bridge` copies the messages of a topic at AWS to a topic of Fantail. They come through a queue at AWS, which
 * keeps them while the bridge is away, or by HTTP requests of SNS. Several bridges of a topic may run at the same time.
 */
import { once } from 'node:events'
import { SubscribeCommand, UnsubscribeCommand } from '@aws-sdk/client-sns'
import { VerifyError } from '@fantail/client'
import { getTopic } from '@fantail/client/api'
import { consume, type QueueMessage, sqs } from '@fantail/consumer'
import { connectLate } from '../../frame/api-client.ts'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { readWhole } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { failureText } from '../../frame/failure-text.ts'
import { CommandError } from '../../output/exit-codes.ts'
import { counted } from '../../output/text-table.ts'
import { type AwsTopic, confirmedSubscriptions, openAwsTopic } from './aws-topic.ts'
import { bridgeQueueName, bridgesAmong, openBridgeQueue } from './bridge-queue.ts'
import { type Copied, copyMessage, type Destination, readEnvelope, type SnsMessage } from './copy-message.ts'
import { isRefusedForGood, RefusedCopies } from './refused-copies.ts'
import { confirmAtSns, receiveSns, schemeOf, verifiedEvent } from './sns-requests.ts'
import { isOff } from './subscription-pairs.ts'

/** Ends copies under way after Ctrl-C. */
const BRIDGE_GRACE_MS = 5_000
/** Messages that a bridge copies at the same time. Past it: they wait in the queue. */
const BRIDGED_AT_ONCE_MAX = 50

interface BridgeFlags {
  to?: string
  queue?: string
  endpoint?: string
  host: string
  port: string
  end?: boolean
}

export const bridge: Define = (command, does) => {
  command
    .argument('<topic-arn>', 'ARN of the topic at AWS')
    .option('--to <topic>', 'the topic of Fantail; default: the one with the same name')
    .option('--queue <name>', 'the queue at AWS that carries the messages; default: fantail-bridge-<topic>')
    .option('--endpoint <url>', 'SNS sends to this URL of the bridge, instead of a queue')
    .option('--host <host>', 'with --endpoint: the address on which the bridge listens', '127.0.0.1')
    .option('--port <port>', 'with --endpoint: its port; 0 takes a free one', '4150')
    .option('--end', 'unsubscribes the bridge at AWS, and ends')
    .action(does(runBridge))
  examples(
    command,
    'bridge arn:aws:sns:eu-west-1:123456789012:orders',
    'bridge arn:aws:sns:eu-west-1:123456789012:orders --to shop-orders --queue to-fantail',
    'bridge arn:aws:sns:eu-west-1:123456789012:orders --endpoint https://bridge.example.com/ --port 8080',
    'bridge arn:aws:sns:eu-west-1:123456789012:orders --end',
  )
}

async function runBridge(context: CommandContext, arn: string, flags: BridgeFlags): Promise<void> {
  const topic = openAwsTopic(arn, context)
  try {
    if (flags.end) await endBridge(context, topic, flags)
    else await new Bridge(context, { topic, flags, to: await destinationOf(context, topic, flags) }).run()
  } finally {
    topic.close()
  }
}

/** Asks first if a subscription is off at AWS, because it then gets only what is published at Fantail. */
async function endBridge(
  context: CommandContext,
  topic: AwsTopic,
  { endpoint, queue }: BridgeFlags,
): Promise<void> {
  const { out } = context
  const unsubscribed = endpoint ?? queue ?? bridgeQueueName(topic)
  const present = await confirmedSubscriptions(topic)
  const bridges = bridgesAmong(present, unsubscribed)
  if (bridges.length === 0)
    throw new CommandError('notFound', `${unsubscribed} is not subscribed to ${topic.arn}`)
  const off = counted(present.filter(isOff).length, 'subscription')
  if (present.some(isOff))
    await confirm(`end the bridge, so that what is published at AWS no longer reaches ${off}`, context)
  for (const { arn } of bridges) await topic.sns.send(new UnsubscribeCommand({ SubscriptionArn: arn }))
  out.item({ unsubscribed }, () => `unsubscribed ${unsubscribed}`, unsubscribed)
  if (endpoint === undefined) out.note('The queue stays. Delete it at AWS when it is empty.')
}

async function destinationOf(
  { server, signal }: CommandContext,
  { name }: AwsTopic,
  { to = name }: BridgeFlags,
): Promise<Destination> {
  const client = connectLate({ ...(await server()), signal, graceMs: BRIDGE_GRACE_MS })
  return { client, topic: (await getTopic({ client, path: { topic: to } })).arn }
}

interface Bridged {
  topic: AwsTopic
  flags: BridgeFlags
  to: Destination
}

type Counts = Record<Copied | 'refused' | 'failed', number>

class Bridge {
  readonly #context: CommandContext
  readonly #topic: AwsTopic
  readonly #flags: BridgeFlags
  readonly #counts: Counts = { copied: 0, repeated: 0, own: 0, refused: 0, failed: 0 }
  readonly #to: Destination
  /** The latest problem, which is not told again before something was copied. */
  #problem = ''

  constructor(context: CommandContext, { topic, flags, to }: Bridged) {
    this.#context = context
    this.#topic = topic
    this.#flags = flags
    this.#to = to
  }

  /** Ends with Ctrl-C, when what was taken is copied. */
  async run(): Promise<void> {
    const { endpoint } = this.#flags
    const { out, signal } = this.#context
    const progress = out.progress('messages copied')
    const timer = setInterval(() => progress.update(this.#counts.copied), 1_000)
    try {
      await (endpoint === undefined ? this.#throughQueue() : this.#byRequests(endpoint))
    } finally {
      clearInterval(timer)
      progress.end()
    }
    const counts = Object.entries(this.#counts).map(([name, count]) => `${count} ${name}`)
    out.item(this.#counts, () => counts.join(', '))
    signal.throwIfAborted()
  }

  async #throughQueue(): Promise<void> {
    const { out, signal } = this.#context
    const name = this.#flags.queue ?? bridgeQueueName(this.#topic)
    const source = sqs(await openBridgeQueue(this.#topic, name), { client: this.#topic.sqs })
    const refused = new RefusedCopies(this.#topic, source, name)
    out.note(`copying ${this.#topic.arn} through the queue ${name}; Ctrl-C ends it`)
    const handle = async (queued: QueueMessage) => {
      const refusal = await this.#refusalOf(queued)
      if (refusal === undefined) return
      await refused.keep(queued)
      this.#counts.refused++
      this.#report(`message ${queued.id} is now in the queue ${refused.name} at AWS: ${refusal}`)
    }
    const consumer = consume(source, handle, { concurrency: BRIDGED_AT_ONCE_MAX })
    consumer.on('failed', (_, error) => this.#failed(error))
    consumer.on('problem', (error) => this.#failed(error))
    if (!signal.aborted) await once(signal, 'abort')
    await consumer.stop({ graceMs: BRIDGE_GRACE_MS })
  }

  /** Copies the message. Resolves with why it can never be copied, and rejects if it may be possible later. */
  async #refusalOf({ body, groupId }: QueueMessage): Promise<string | undefined> {
    const message = readEnvelope(body)
    if (message?.topicArn !== this.#topic.arn) return 'it is no envelope of the topic'
    try {
      await this.#copy(message, groupId)
      return undefined
    } catch (error) {
      if (isRefusedForGood(error)) return failureText(error)
      throw error
    }
  }

  async #byRequests(endpoint: string): Promise<void> {
    const { out, signal } = this.#context
    const { host, port } = this.#flags
    const { arn, sns } = this.#topic
    const receiving = await receiveSns({
      host,
      port: readWhole(port, '--port', 0),
      handle: ({ text }) => this.#take(text),
      failed: (error) => this.#failed(error),
      status: () => this.#counts,
    })
    try {
      out.note(`copying ${arn} by requests to port ${receiving.port}; Ctrl-C ends it`)
      const Protocol = schemeOf(endpoint)
      await sns.send(new SubscribeCommand({ TopicArn: arn, Protocol, Endpoint: endpoint }))
      if (!signal.aborted) await once(signal, 'abort')
    } finally {
      await receiving.close()
    }
  }

  async #take(text: string): Promise<void> {
    const event = await verifiedEvent(text, this.#topic)
    if (event.type === 'Notification') await this.#copy(event)
    else if (event.type === 'SubscriptionConfirmation') await confirmAtSns(event, this.#topic)
  }

  async #copy(message: SnsMessage, groupId?: string): Promise<void> {
    this.#counts[await copyMessage(message, { ...this.#to, groupId })]++
    this.#problem = ''
  }

  #failed(error: unknown): void {
    this.#counts[error instanceof VerifyError ? 'refused' : 'failed']++
    this.#report(failureText(error))
  }

  #report(problem: string): void {
    if (problem !== this.#problem) this.#context.out.warn(problem)
    this.#problem = problem
  }
}
