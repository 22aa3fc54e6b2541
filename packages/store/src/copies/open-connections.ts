/** Facts about a connection: when it was opened, and which server process it leads to. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'

interface Link {
  /** By performance.now(). Infinity while it is closed. */
  readonly openSince: number
  /** Run id of the server process. undefined if not known yet. */
  server: string | undefined
}

const CLOSED: Link = { openSince: Number.POSITIVE_INFINITY, server: undefined }
/** The name of a server if an ACL forbids INFO. All such connections count as connections to one server. */
const UNNAMED = ''
const ASK_SERVER_AGAIN_MS = 200

/** Stored on the connection itself, so that each connection is followed only once. */
const LINK = Symbol('link')

type Followed = Redis & { [LINK]?: Link }

/** When the connection was last opened, by performance.now(). Infinity while it is closed. */
export function openSince(redis: Redis): number {
  return linkOf(redis).openSince
}

/** Whether all of them lead to the same server process now. False while a server is not known yet. */
export function leadToOneServer(connections: Redis[]): boolean {
  const distinct = new Set(connections)
  if (distinct.size < 2) return true
  const servers = new Set(Array.from(distinct, (redis) => linkOf(redis).server))
  return servers.size === 1 && !servers.has(undefined)
}

/** Must be called when the connection is made, so that every opening is recorded. */
export function followConnection(redis: Redis): void {
  linkOf(redis)
}

function linkOf(redis: Redis): Link {
  return (redis as Followed)[LINK] ?? follow(redis)
}

function follow(redis: Redis): Link {
  redis.on('ready', () => open(redis))
  redis.on('close', () => {
    ;(redis as Followed)[LINK] = CLOSED
  })
  if (redis.status === 'ready') return open(redis)
  ;(redis as Followed)[LINK] = CLOSED
  return CLOSED
}

function open(redis: Redis): Link {
  const link: Link = { openSince: performance.now(), server: undefined }
  ;(redis as Followed)[LINK] = link
  void learnServer(redis, link)
  return link
}

/**
 * Asks the server for its run id after the connection has opened. Asks again until there is an answer or the connection
 * closes.
 */
async function learnServer(redis: Redis, link: Link): Promise<void> {
  while ((redis as Followed)[LINK] === link && link.server === undefined) {
    try {
      const info = await redis.info('server')
      link.server = /^run_id:(\w+)/m.exec(info)?.[1] ?? UNNAMED
    } catch (error) {
      if ((error as Error).name === 'ReplyError') link.server = UNNAMED
      else await delay(ASK_SERVER_AGAIN_MS, undefined, { ref: false })
    }
  }
}
