/** `fantail listen` forwards the messages of topics to a server on the developer's machine, without a tunnel. */
import { once } from 'node:events'
import { type Consumer, consume, fantailQueue, type QueueMessage } from '@fantail/consumer'
import { CommandError } from '../../exit-codes.ts'
import { connectApi } from '../../frame/api-client.ts'
import type { CommandContext, Define } from '../../frame/command-context.ts'
import { collect, readObject, readWhole } from '../../frame/command-input.ts'
import { parseDuration } from '../../frame/durations.ts'
import { examples } from '../../frame/examples.ts'
import { type Forwarded, Forwarder } from './forward.ts'
import { ListeningQueue } from './listening-queue.ts'

/** Ends requests under way after Ctrl-C. */
const GRACE_MS = 2_000
/** @limit Time to delete the queue after Ctrl-C. Past it: the queue stays until its lease ends. */
const REMOVE_MS_MAX = 5_000
/** @limit Pause before a refused message is forwarded again. Past it: the pause does not grow. */
const LISTEN_BACKOFF_SECONDS_MAX = 60

interface ListenFlags {
  forwardTo: string
  filter?: string
  filterScope: 'attributes' | 'body'
  header?: string[]
  skipVerify?: boolean
  raw?: boolean
  keep: string
  concurrency: string
}

export const listen: Define = (command, does) => {
  command
    .argument('<topics>', 'names of topics, with commas between them')
    .requiredOption('--forward-to <url>', 'where messages are sent, such as localhost:3000/hooks')
    .option('--filter <json>', 'only messages that this filter policy matches; @FILE and - are read')
    .option('--filter-scope <scope>', 'what the filter policy judges: attributes or body', 'attributes')
    .option('--header <name: value>', 'a further header; may be given several times', collect)
    .option('--raw', 'sends the message without the envelope')
    .option('--skip-verify', 'accepts any certificate of an https server')
    .option('--keep <time>', 'how long messages are kept after a crash or sleep', '24h')
    .option('--concurrency <n>', 'messages that are forwarded at the same time', '10')
    .action(does(forwardTopics))
  examples(
    command,
    'listen orders --forward-to localhost:3000/hooks',
    'listen orders,invoices --forward-to localhost:3000 --filter \'{"event":["order.created"]}\'',
    'listen orders --forward-to https://localhost:8443 --skip-verify --header "X-Env: dev" --json',
  )
}

async function forwardTopics(context: CommandContext, topics: string, flags: ListenFlags): Promise<void> {
  const forwarder = new Forwarder({
    url: readUrl(flags.forwardTo),
    headers: Object.fromEntries((flags.header ?? []).map(readHeader)),
    skipVerify: flags.skipVerify === true,
    raw: flags.raw === true,
  })
  const filterPolicy = flags.filter ? await readObject(flags.filter, '--filter', context) : undefined
  const server = await context.server()
  const queue = new ListeningQueue(await context.api(), {
    topics: topics.split(',').filter((topic) => topic !== ''),
    filterPolicy,
    filterPolicyScope: readScope(flags.filterScope),
    leaseSeconds: Math.ceil(parseDuration(flags.keep, '--keep') / 1_000),
  })
  try {
    await queue.open()
    context.out.note(`listening to ${topics} as queue ${queue.name}; Ctrl-C ends it`)
    const source = fantailQueue(queue.name, {
      url: server.url,
      ...(server.apiKey !== undefined && { apiKey: server.apiKey }),
    })
    const handle = async (message: QueueMessage, { signal }: { signal: AbortSignal }) => {
      const forwarded = await forwarder.forward(message, signal)
      show(context, forwarded)
      if (!isAccepted(forwarded)) throw new Error('not accepted')
    }
    const consumer = consume(source, handle, {
      concurrency: readWhole(flags.concurrency, '--concurrency', 1),
      backoff: ({ receiveCount }) => Math.min(2 ** (receiveCount - 1), LISTEN_BACKOFF_SECONDS_MAX),
    })
    reportTroubles(context, consumer, queue)
    if (!context.signal.aborted) await once(context.signal, 'abort')
    await consumer.stop({ graceMs: GRACE_MS })
  } finally {
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

/** One line when the trouble begins, and one when it is over. */
function reportTroubles({ out }: CommandContext, consumer: Consumer, queue: ListeningQueue): void {
  let troubledAt: number | undefined
  consumer.on('failed', () => undefined) // Its line says it.
  consumer.on('problem', (error, action) => {
    if (action === 'receive' && (error as { code?: string }).code === 'not_found') {
      out.warn(
        'the queue is gone, because nothing was received for so long; what it had is lost. Making it anew.',
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

function isAccepted({ statusCode }: Forwarded): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300
}

function show({ out }: CommandContext, forwarded: Forwarded): void {
  const { at, messageId, topicArn, attempt, statusCode, error, durationMs } = forwarded
  const style = isAccepted(forwarded) ? 'green' : 'red'
  const text = () =>
    [
      at.slice(11, 19),
      topicArn.split(':').at(-1),
      messageId,
      `attempt ${attempt}`,
      out.style(style, String(statusCode ?? error)),
      `${durationMs} ms`,
    ].join('  ')
  out.item(forwarded, text, messageId)
}

/** `localhost:3000/hooks` stands for `http://localhost:3000/hooks`. */
function readUrl(given: string): URL {
  const text = /^https?:\/\//.test(given) ? given : `http://${given}`
  if (URL.canParse(text)) return new URL(text)
  throw new CommandError(
    'usage',
    `--forward-to is no address: ${given}`,
    'Give one such as localhost:3000/hooks.',
  )
}

function readHeader(given: string): [string, string] {
  const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(given) ?? []
  if (name !== '') return [name, value]
  throw new CommandError('usage', `--header must be "Name: value", not ${given}`)
}

function readScope(scope: string): 'MessageAttributes' | 'MessageBody' {
  if (scope === 'attributes') return 'MessageAttributes'
  if (scope === 'body') return 'MessageBody'
  throw new CommandError('usage', `--filter-scope must be attributes or body, not ${scope}`)
}
