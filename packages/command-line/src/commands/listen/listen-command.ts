/** `fantail listen` forwards the messages of topics to a server on the developer's machine, without a tunnel. */
import { once } from 'node:events'
import { type Consumer, consume, fantailQueue, type QueueMessage } from '@fantail/consumer'
import { printable } from '@fantail/policy'
import { connectApi } from '../../frame/api-client.ts'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { collect } from '../../frame/command-input.ts'
import { type Forwarded, Forwarder, isAccepted } from './forward.ts'
import type { RequestForm } from './forwarded-request.ts'
import { type ListenFlags, type ListenWanted, readListenFlags } from './listen-flags.ts'
import { ListenKeys } from './listen-keys.ts'
import { listenSecret } from './listen-secret.ts'
import { checkRights, ListeningQueue, listenedSubscription } from './listening-queue.ts'
import { recordRequest } from './request-files.ts'

/** Ends requests under way after Ctrl-C. */
const GRACE_MS = 2_000
/** Time to delete the queue after Ctrl-C. Past it: the queue stays until its lease ends. */
const REMOVE_MS_MAX = 5_000
/** Pause before a refused message is forwarded again. Past it: the pause does not grow. */
const LISTEN_BACKOFF_SECONDS_MAX = 60

export const listen: Define = (command, does) => {
  command
    .argument('[topics]', 'names of topics, with commas between them')
    .option('--forward-to <url>', 'where messages are sent, such as localhost:3000/hooks')
    .option('--as <subscription>', 'the requests that this webhook subscription gets: id or ARN')
    .option('--record <folder>', 'writes each request into a file, for the command `replay`')
    .option('--print-secret', 'prints the secret that signs requests, and ends')
    .option('--filter <json>', 'only messages that this filter policy matches; @FILE and - are read')
    .option('--filter-scope <scope>', 'what the filter policy judges: attributes (default) or body')
    .option('--header <name: value>', 'a further header; may be given several times', collect)
    .option('--raw', 'sends the message without the envelope')
    .option('--skip-verify', 'accepts any certificate of an https server')
    .option('--keep <time>', 'how long messages are kept after a crash or sleep', '24h')
    .option('--concurrency <n>', 'messages that are forwarded at the same time', '10')
    .action(
      does((context: CommandContext, topics: string | undefined, flags: ListenFlags) =>
        flags.printSecret ? printSecret(context) : forwardTopics(context, topics, flags),
      ),
    )
  examples(
    command,
    'listen orders --forward-to localhost:3000/hooks',
    'listen orders,invoices --forward-to localhost:3000 --filter \'{"event":["order.created"]}\'',
    'listen --as 5f0c1e4e-… --forward-to localhost:3000/hooks --header "X-Env: dev"',
    'listen --print-secret',
    'listen orders --forward-to https://localhost:8443 --skip-verify --json',
  )
}

async function printSecret({ server, env, out }: CommandContext): Promise<void> {
  const { profile, url } = await server()
  const secret = await listenSecret({ profile, url, apiKey: undefined }, env)
  out.item({ secret, profile: profile ?? null, url }, () => secret, secret)
}

async function forwardTopics(
  context: CommandContext,
  given: string | undefined,
  flags: ListenFlags,
): Promise<void> {
  const wanted = await readListenFlags(given, flags, context)
  const server = await context.server()
  const client = await context.api()
  const what = flags.as ?? wanted.topics.join(', ')
  await checkRights(
    client,
    `forward the messages of ${what} from ${server.url} to ${wanted.url.href}`,
    context,
  )
  const { form, ...subscribed } = await formOf(context, wanted, flags)
  const forwarder = new Forwarder({ url: wanted.url, skipVerify: flags.skipVerify === true })
  const queue = new ListeningQueue(client, { ...wanted, ...subscribed })
  const keys = new ListenKeys(context, server, queue.name)
  try {
    await queue.open()
    context.out.note(`listening to ${what} as queue ${queue.name}; Ctrl-C ends it`)
    const { url, apiKey } = server
    const source = fantailQueue(queue.name, { url, ...(apiKey !== undefined && { apiKey }) })
    const handle = async (message: QueueMessage, { signal }: { signal: AbortSignal }) => {
      const exchange = await forwarder.forward(message, form, signal)
      if (flags.record !== undefined) await recordRequest(flags.record, exchange)
      const isDone = isAccepted(exchange.line)
      if (!isDone) keys.refused(message, exchange)
      show(context, exchange.line, isDone ? '' : `  again in ${backoffOf(message)} s${keys.hint}`)
      if (!isDone) throw new Error('not accepted')
    }
    keys.start()
    const consumer = consume(source, handle, {
      concurrency: wanted.concurrency,
      backoff: ({ message }) => backoffOf(message),
    })
    reportTroubles(context, consumer, queue)
    if (!context.signal.aborted) await once(context.signal, 'abort')
    await consumer.stop({ graceMs: GRACE_MS })
  } finally {
    keys.stop()
    forwarder.close()
    await queue
      .remove(connectApi({ ...server, signal: AbortSignal.timeout(REMOVE_MS_MAX) }))
      .catch((error) => {
        context.out.warn(
          `queue ${queue.name} stays until ${flags.keep} after now: ${(error as Error).message}`,
        )
      })
  }
  context.signal.throwIfAborted()
}

type Subscribed = Pick<ListenWanted, 'topics' | 'filterPolicy' | 'filterPolicyScope'> & { form: RequestForm }

/** The form of requests, and the filter of the queue: set by the flags, or else by the subscription. */
async function formOf(
  context: CommandContext,
  wanted: ListenWanted,
  flags: ListenFlags,
): Promise<Subscribed> {
  const secret = await listenSecret(await context.server(), context.env)
  const { headers, topics, filterPolicy, filterPolicyScope } = wanted
  if (flags.as === undefined) {
    const own = { contentType: flags.raw ? null : 'application/json', userAgent: 'fantail-listen' }
    const form = { ...own, raw: flags.raw === true, subscriptionArn: undefined, secret, headers }
    return { topics, filterPolicy, filterPolicyScope, form }
  }
  const { form, isSigned, secretHeaders, topicArn, ...filter } = await listenedSubscription(
    await context.api(),
    flags.as,
  )
  const given = Object.keys(headers).map((name) => name.toLowerCase())
  const missing = secretHeaders.filter((name) => !given.includes(name.toLowerCase()))
  if (missing.length > 0)
    context.out.warn(`the values of ${missing.join(', ')} are secret: give them with --header`)
  return { ...filter, topics: [topicArn], form: { ...form, headers, secret: isSigned ? secret : undefined } }
}

function backoffOf({ receiveCount }: QueueMessage): number {
  return Math.min(2 ** (receiveCount - 1), LISTEN_BACKOFF_SECONDS_MAX)
}

/** Prints one line when a failure begins, and one when it is over. */
function reportTroubles({ out }: CommandContext, consumer: Consumer, queue: ListeningQueue): void {
  let troubledAt: number | undefined
  consumer.on('failed', () => undefined) // Its line says it.
  consumer.on('problem', (error, action) => {
    if (action === 'receive' && (error as { code?: string }).code === 'not_found') {
      out.warn(
        'the queue is gone, because nothing was received for so long; what it had is lost. Making a new one.',
      )
      queue.open().catch((failure: Error) => out.warn(`the queue cannot be made: ${failure.message}`))
    } else if (troubledAt === undefined) {
      out.warn(`the server cannot be asked: ${(error as Error).message}. Messages wait in the queue.`)
    }
    troubledAt ??= Date.now()
  })
  consumer.on('received', () => {
    if (troubledAt === undefined) return
    out.note(`the server answers again, after ${Math.round((Date.now() - troubledAt) / 1_000)} s`)
    troubledAt = undefined
  })
}

function show({ out }: CommandContext, forwarded: Forwarded, note: string): void {
  const { at, messageId, topicArn, attempt, statusCode, error, durationMs } = forwarded
  const style = isAccepted(forwarded) ? 'green' : 'red'
  const text = () =>
    [
      at.slice(11, 19),
      printable(`${topicArn.split(':').at(-1)}  ${messageId}`),
      `attempt ${attempt}`,
      out.style(style, printable(String(statusCode ?? error))),
      `${durationMs} ms${note}`,
    ].join('  ')
  out.item(forwarded, text, messageId)
}
