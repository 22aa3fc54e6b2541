/**
 * A Redis that runs already. A stack takes a whole database of it, marks the database with its owner, and empties it at
 * the end. A database with other data is never touched.
 */
import { hostname } from 'node:os'
import { askServer, type Reply } from './redis-session.ts'

export interface StackRedis {
  url: string
  logText(): string
  stop(): Promise<void>
}

const OWNER = 'fantail-testing:owner'
/** Databases of a given Redis among which a test stack looks for an empty one. Past it: the start fails. */
const TEST_DATABASES_MAX = 16

/** Databases that the stacks of this process use, or are about to mark. */
const owned = new Set<string>()

/** The database in the URL's path, or else the first free one. */
export async function takeDatabase(given: string): Promise<StackRedis> {
  const url = readUrl(given)
  const numbers =
    url.pathname.length > 1
      ? [url.pathname.slice(1)]
      : Array.from({ length: TEST_DATABASES_MAX }, (_, n) => `${n}`)
  const reasons: string[] = []
  for (const number of numbers) {
    const database = new URL(url)
    database.pathname = `/${number}`
    const reason = await take(database)
    if (reason === undefined) return stackRedis(database)
    reasons.push(`database ${number} ${reason}`)
  }
  throw new Error(
    `no database of the Redis at ${url.host} is free for a test stack: ${reasons.join(', ')}. Empty one by FLUSHDB`,
  )
}

function readUrl(given: string): URL {
  const url = URL.parse(given)
  if (url && ['redis:', 'rediss:'].includes(url.protocol) && /^\/?\d*$/.test(url.pathname)) return url
  throw new TypeError(
    'the URL of a Redis must be redis://host:port or rediss://host:port, with a number or no path',
  )
}

function stackRedis(url: URL): StackRedis {
  return {
    url: url.href,
    logText: () => '',
    stop: async () => {
      refuse(await askServer(url, [['FLUSHDB']]))
      owned.delete(url.href)
    },
  }
}

/** undefined: this process has the database now. Otherwise the reason why not. */
async function take(url: URL): Promise<string | undefined> {
  const me = `${hostname()} ${process.pid}`
  // The name is set before Redis is asked, so that two stacks that start at once do not empty each other's database.
  if (owned.has(url.href)) return `belongs to a test stack (${me})`
  owned.add(url.href)
  let isTaken = false
  try {
    const reason = await mark(url, me)
    isTaken = reason === undefined
    return reason
  } finally {
    if (!isTaken) owned.delete(url.href)
  }
}

async function mark(url: URL, me: string): Promise<string | undefined> {
  const marked = () => askServer(url, [['SET', OWNER, me, 'NX'], ['DBSIZE'], ['GET', OWNER]])
  let [answer, size, owner] = refuse(await marked())
  if (answer !== 'OK' && isLeftBehind(String(owner))) {
    // The stack of this database was killed, so this process empties it.
    refuse(await askServer(url, [['FLUSHDB']]))
    ;[answer, size, owner] = refuse(await marked())
  }
  if (answer !== 'OK') return owner === null ? 'holds data' : `belongs to a test stack (${owner})`
  if (size === 1) return undefined
  refuse(await askServer(url, [['DEL', OWNER]]))
  return 'holds data'
}

/** An earlier process may have had the number of this one. */
function isLeftBehind(owner: string): boolean {
  const [host, pid] = owner.split(' ')
  if (host !== hostname()) return false
  if (Number(pid) === process.pid) return true
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

function refuse(replies: Reply[]): Reply[] {
  const refused = replies.find((reply) => reply instanceof Error)
  if (refused) throw refused
  return replies
}
