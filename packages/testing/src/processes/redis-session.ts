/** Sends a few commands to a Redis, without a client library. Replies are texts, numbers, null and errors. */
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** Time that a test stack gives a Redis to reply. Past it: the Redis counts as not reachable. */
const TEST_REPLY_MS_MAX = 3_000
const REDIS_PORT = 6379

export type Reply = string | number | null | Error

/** Replies to all commands, in their order. Rejects if the server does not answer them. */
export function askServer(url: URL, commands: string[][]): Promise<Reply[]> {
  const all = [...greeting(url), ...commands]
  return new Promise((resolve, reject) => {
    const socket = open(url)
    let text = Buffer.alloc(0)
    const fail = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(TEST_REPLY_MS_MAX, () =>
      fail(new Error(`${url.host} did not answer in ${TEST_REPLY_MS_MAX} ms`)),
    )
    socket.once('error', fail)
    socket.once('close', () => reject(new Error(`${url.host} closed the connection`)))
    socket.on('data', (chunk) => {
      text = Buffer.concat([text, chunk])
      const replies = readReplies(text)
      if (replies.length < all.length) return
      socket.destroy()
      const refused = replies.slice(0, all.length - commands.length).find((reply) => reply instanceof Error)
      if (refused) reject(refused)
      else resolve(replies.slice(all.length - commands.length))
    })
    socket.write(all.map(encode).join(''))
  })
}

function open(url: URL): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || REDIS_PORT)
  return url.protocol === 'rediss:'
    ? connectTls({ host, port, servername: host })
    : connectTcp({ host, port })
}

/** The commands that log the user in, and choose the database in the URL's path. */
function greeting(url: URL): string[][] {
  const [username, password] = [url.username, url.password].map(decodeURIComponent)
  const database = url.pathname.slice(1)
  return [
    ...(password ? [['AUTH', ...(username ? [username] : []), password]] : []),
    ...(database ? [['SELECT', database]] : []),
  ]
}

function encode(words: string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  return `*${words.length}\r\n${parts.join('')}`
}

/** The replies that have arrived completely. */
function readReplies(bytes: Buffer): Reply[] {
  const replies: Reply[] = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return replies
    const kind = String.fromCharCode(bytes[at] ?? 0)
    const line = bytes.toString('utf8', at + 1, lineEnd)
    at = lineEnd + 2
    if (kind !== '$' || Number(line) < 0) {
      replies.push(kind === '$' ? null : simpleReply(kind, line))
      continue
    }
    const end = at + Number(line)
    if (bytes.length < end + 2) return replies
    replies.push(bytes.toString('utf8', at, end))
    at = end + 2
  }
}

function simpleReply(kind: string, line: string): Reply {
  if (kind === '+') return line
  if (kind === ':') return Number(line)
  return new Error(kind === '-' ? line : `not a simple reply: ${kind}${line}`)
}
