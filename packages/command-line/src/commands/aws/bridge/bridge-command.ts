/**
 * `fantail bridge` copies the messages of one or many topics at AWS to topics of Fantail. They come through a queue of
 * each topic at AWS, which keeps them while the bridge does not run, or by HTTP requests of SNS. Several bridges of a
 * topic may run at the same time.
 */
import { once } from 'node:events'
import { SubscribeCommand } from '@aws-sdk/client-sns'
import { VerifyError } from '@fantail/client'
import { getTopic } from '@fantail/client/api'
import { type Consumer, consume, type QueueMessage, sqs } from '@fantail/consumer'
import { WeightedSemaphore } from '@fantail/runtime'
import { sideBySide } from '@fantail/store'
import { connectLate } from '../../../frame/api-client.ts'
import { type CommandContext, type Define, examples } from '../../../frame/command-context.ts'
import { readWhole } from '../../../frame/command-input.ts'
import { failureText } from '../../../frame/failure-text.ts'
import { ApiRefusal, CommandError, type ExitName } from '../../../output/exit-codes.ts'
import {
  type AwsTopic,
  type AwsTopics,
  CALLS_AT_ONCE,
  openAwsTopics,
  refuseForSeveral,
} from '../aws-topic.ts'
import { bridgeQueueName, openBridgeQueue } from '../bridge-queue.ts'
import { confirmAtSns, receiveSns, schemeOf, verifiedEvent } from '../sns-requests.ts'
import { type EndFlags, endBridges } from './bridge-end.ts'
import { type Copied, copyMessage, type Destination, readEnvelope, type SnsMessage } from './copy-message.ts'
import { isRefusedForGood, RefusedCopies } from './refused-copies.ts'

/** Ends copies under way after Ctrl-C. */
const BRIDGE_GRACE_MS = 5_000
/** Messages that a bridge copies at the same time, shared by its topics. Past it: they wait in line. */
const COPIES_AT_ONCE_MAX = 50
/** Messages that each of many topics may take from its queue, so that the next ones are at hand. */
const TAKEN_OF_TOPIC_MIN = 4

interface BridgeFlags extends EndFlags {
  to?: string
  host: string
  port: string
  end?: boolean
}

export const bridge: Define = (command, does) => {
  command
    .argument('<topic-arn>', 'ARN of the topic at AWS; `*` in its name stands for any text')
    .option('--to <topic>', 'the topic of Fantail; default: the one with the same name')
    .option('--queue <name>', 'the queue at AWS that carries the messages; default: fantail-bridge-<topic>')
    .option('--endpoint <url>', 'SNS sends to this URL of the bridge, instead of a queue')
    .option('--host <host>', 'with --endpoint: the address on which the bridge listens', '127.0.0.1')
    .option('--port <port>', 'with --endpoint: its port; 0 takes a free one', '4150')
    .option('--end', 'unsubscribes the bridge at AWS, and ends')
    .option(
      '--delete-queues',
      'with --end: also deletes the queues that the bridge has made, if they are empty',
    )
    .option('--settle <time>', 'with --delete-queues: how long SQS needs until its counts are right', '1m')
    .action(does(runBridge))
  examples(
    command,
    'bridge arn:aws:sns:eu-west-1:123456789012:orders',
    "bridge 'arn:aws:sns:eu-west-1:123456789012:*'",
    'bridge arn:aws:sns:eu-west-1:123456789012:orders --to shop-orders --queue to-fantail',
    'bridge arn:aws:sns:eu-west-1:123456789012:orders --endpoint https://bridge.example.com/ --port 8080',
    'bridge arn:aws:sns:eu-west-1:123456789012:orders --end',
    "bridge 'arn:aws:sns:eu-west-1:123456789012:*' --end --delete-queues",
  )
}

async function runBridge(context: CommandContext, arn: string, flags: BridgeFlags): Promise<ExitName> {
  if (flags.deleteQueues && (!flags.end || flags.queue !== undefined || flags.endpoint !== undefined))
    throw new CommandError(
      'usage',
      '--delete-queues needs --end, and goes with neither --queue nor --endpoint, because it deletes only queues that the bridge has named',
    )
  const opened = await openAwsTopics(arn, context)
  try {
    const { to, queue, endpoint } = flags
    refuseForSeveral(opened, { to, queue, endpoint })
    if (flags.end) return await endBridges(context, opened, flags)
    await new Bridge(context, flags, await destinationsOf(context, opened, flags)).run()
    return 'done'
  } finally {
    opened.close()
  }
}

/** A topic of a pattern that does not exist at Fantail is left out. */
async function destinationsOf(
  { server, signal, out }: CommandContext,
  { topics, pattern }: AwsTopics,
  { to }: BridgeFlags,
): Promise<Bridged[]> {
  const client = connectLate({ ...(await server()), signal, graceMs: BRIDGE_GRACE_MS })
  const arnOf = async (topic: string) => {
    try {
      return (await getTopic({ client, path: { topic } })).arn
    } catch (error) {
      if (topics.length > 1 && error instanceof ApiRefusal && error.status === 404) return undefined
      throw error
    }
  }
  const bridged = await sideBySide(topics, CALLS_AT_ONCE, async (topic): Promise<Bridged[]> => {
    const arn = await arnOf(to ?? topic.name)
    if (arn !== undefined) return [{ topic, to: { client, topic: arn } }]
    out.warn(`${topic.name} does not exist at Fantail, so that nothing of it is copied`)
    return []
  })
  const found = bridged.flat()
  if (found.length === 0) throw new CommandError('notFound', `no topic of ${pattern} exists at Fantail`)
  return found
}

interface Bridged {
  topic: AwsTopic
  to: Destination
}

type Counts = Record<Copied | 'refused' | 'failed', number>

class Bridge {
  readonly #context: CommandContext
  readonly #flags: BridgeFlags
  readonly #bridged: Bridged[]
  readonly #counts: Counts = { copied: 0, repeated: 0, own: 0, refused: 0, failed: 0 }
  /** Counts messages. A topic has few in line, so that each gets its share. */
  readonly #copies = new WeightedSemaphore(COPIES_AT_ONCE_MAX)
  /** The latest problem, which is not told again before something was copied. */
  #problem = ''

  constructor(context: CommandContext, flags: BridgeFlags, bridged: Bridged[]) {
    this.#context = context
    this.#flags = flags
    this.#bridged = bridged
  }

  /** Ends with Ctrl-C, when what was taken is copied. */
  async run(): Promise<void> {
    const { endpoint } = this.#flags
    const { out, signal } = this.#context
    const progress = out.progress('messages copied')
    const timer = setInterval(() => progress.update(this.#counts.copied), 1_000)
    try {
      await (endpoint === undefined ? this.#throughQueues() : this.#byRequests(endpoint))
    } finally {
      clearInterval(timer)
      progress.end()
    }
    const counts = Object.entries(this.#counts).map(([name, count]) => `${count} ${name}`)
    out.item(this.#counts, () => counts.join(', '))
    signal.throwIfAborted()
  }

  async #throughQueues(): Promise<void> {
    const { out, signal } = this.#context
    const consumers: Consumer[] = []
    try {
      await sideBySide(this.#bridged, CALLS_AT_ONCE, async (bridged) => {
        signal.throwIfAborted()
        consumers.push(await this.#throughQueue(bridged))
      })
      const [first] = this.#bridged
      if (this.#bridged.length === 1 && first)
        out.note(`copying ${first.topic.arn} through the queue ${this.#queueOf(first)}; Ctrl-C ends it`)
      else
        out.note(
          `copying ${this.#bridged.length} topics, each through its queue fantail-bridge-<topic>; Ctrl-C ends it`,
        )
      if (!signal.aborted) await once(signal, 'abort')
    } finally {
      await Promise.all(consumers.map((consumer) => consumer.stop({ graceMs: BRIDGE_GRACE_MS })))
    }
  }

  #queueOf({ topic }: Bridged): string {
    return this.#flags.queue ?? bridgeQueueName(topic)
  }

  async #throughQueue(bridged: Bridged): Promise<Consumer> {
    const { topic } = bridged
    const name = this.#queueOf(bridged)
    const source = sqs(await openBridgeQueue(topic, name), { client: topic.sqs })
    const refused = new RefusedCopies(topic, source, name)
    const handle = async (queued: QueueMessage) => {
      const refusal = await this.#refusalOf(queued, bridged)
      if (refusal === undefined) return
      await refused.keep(queued)
      this.#counts.refused++
      this.#report(`message ${queued.id} is now in the queue ${refused.name} at AWS: ${refusal}`)
    }
    const share = Math.floor(COPIES_AT_ONCE_MAX / this.#bridged.length)
    const consumer = consume(source, handle, { concurrency: Math.max(share, TAKEN_OF_TOPIC_MIN) })
    consumer.on('failed', (_, error) => this.#failed(error))
    consumer.on('problem', (error) => this.#failed(error))
    return consumer
  }

  /** Copies the message. Resolves with why it can never be copied, and rejects if it may be possible later. */
  async #refusalOf({ body, groupId }: QueueMessage, { topic, to }: Bridged): Promise<string | undefined> {
    const message = readEnvelope(body)
    if (message?.topicArn !== topic.arn) return 'it is not an envelope of the topic'
    try {
      await this.#copy(message, { ...to, groupId })
      return undefined
    } catch (error) {
      if (isRefusedForGood(error)) return failureText(error)
      throw error
    }
  }

  async #byRequests(endpoint: string): Promise<void> {
    const [only] = this.#bridged
    if (!only) return
    const { out, signal } = this.#context
    const { host, port } = this.#flags
    const { arn, sns } = only.topic
    const receiving = await receiveSns({
      host,
      port: readWhole(port, '--port', 0),
      handle: ({ text }) => this.#take(text, only),
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

  async #take(text: string, { topic, to }: Bridged): Promise<void> {
    const event = await verifiedEvent(text, topic)
    if (event.type === 'Notification') await this.#copy(event, to)
    else if (event.type === 'SubscriptionConfirmation') await confirmAtSns(event, topic)
  }

  async #copy(message: SnsMessage, to: Destination): Promise<void> {
    await this.#copies.acquire(1)
    try {
      this.#counts[await copyMessage(message, to)]++
    } finally {
      this.#copies.release(1)
    }
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
