/** `fantail replay` sends recorded requests again. */
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { Forwarder, isAccepted } from './forward.ts'
import { type ForwardRequest, signature } from './forwarded-request.ts'
import { readUrl } from './listen-flags.ts'
import { listenSecret } from './listen-secret.ts'
import { readRequestFile, requestFiles } from './request-files.ts'

interface ReplayFlags {
  to: string
  unchanged?: boolean
  skipVerify?: boolean
}

/** A line of the output. */
interface Replayed {
  file: string
  messageId: string | null
  url: string
  statusCode: number | null
  error: string | null
  durationMs: number
}

export const replay: Define = (command, does) => {
  command
    .argument('<files...>', 'requests of `listen --record`, or folders of them')
    .requiredOption('--to <url>', 'where they are sent, such as localhost:3000/hooks')
    .option('--unchanged', 'keeps the recorded signatures, which are too old for most receivers')
    .option('--skip-verify', 'accepts any certificate of an https server')
    .action(does(replayFiles))
  examples(
    command,
    'replay ./requests --to localhost:3000/hooks',
    'replay ./requests/2026-11-25T09-04-33.120Z-01a20280-…-1.http --to localhost:3000/hooks --unchanged',
  )
}

/** Sends one request after the other, so that they arrive in the order of the files. */
async function replayFiles(context: CommandContext, words: string[], flags: ReplayFlags) {
  const { out, signal } = context
  const url = readUrl(flags.to, '--to')
  const secret = flags.unchanged ? undefined : await listenSecret(await context.server(), context.env)
  const forwarder = new Forwarder({ url, skipVerify: flags.skipVerify === true })
  const files = await requestFiles(words)
  const progress = out.progress('requests', context.isTerminal && !out.json)
  let refused = 0
  try {
    for (const [index, file] of files.entries()) {
      signal.throwIfAborted()
      const request = signedAnew(await readRequestFile(file), secret)
      const { statusCode, error, durationMs } = await forwarder.send(request, signal)
      const messageId = request.headers['webhook-id'] ?? request.headers['x-amz-sns-message-id'] ?? null
      const line: Replayed = { file, messageId, url: url.href, statusCode, error, durationMs }
      if (!isAccepted(line)) refused++
      progress.end()
      out.item(line, () => `${file}  ${statusCode ?? error}  ${durationMs} ms`, file)
      progress.update(index + 1, files.length)
    }
  } finally {
    progress.end()
    forwarder.close()
  }
  if (refused === 0) return 'done'
  out.warn(`${refused} of ${files.length} requests were not accepted`)
  return refused === files.length ? 'failed' : 'partlyDone'
}

/** Requests that were not signed stay as they are. */
function signedAnew(request: ForwardRequest, secret: string | undefined): ForwardRequest {
  const { headers, text } = request
  const id = headers['webhook-id']
  if (secret === undefined || id === undefined) return request
  return { text, headers: { ...headers, ...signature(secret, { id, text, now: Date.now() }) } }
}
