/**
 * A connection on which BullMQ's scripts run even when Redis is out of memory. Without it an accepted message could not
 * be dispatched until memory is freed, and its delivery may be what frees memory. Only workers get such a connection.
 * Publishers add jobs on a connection that Redis refuses. A worker's scripts add little (a lock, an event, a marker).
 *
 * Redis lets a script write when memory is full once the script has run a write that needs no memory. Each script
 * therefore first deletes a key that never exists. The key shares the slot of the script's own keys.
 *
 * A worker works on duplicates of the connection that it is given. That one connects only if the worker has a job
 * scheduler, which shares it.
 */
import { Redis, type RedisOptions } from 'ioredis'

const FIRST_WRITE = "redis.call('DEL', KEYS[1] .. ':never')\n"

class WhenFullRedis extends Redis {
  override defineCommand(...[name, definition]: Parameters<Redis['defineCommand']>): void {
    super.defineCommand(name, { ...definition, lua: FIRST_WRITE + definition.lua })
  }

  /**
   * Called for a lazy connection. Resolves once it is connected, however often that fails first, because BullMQ takes
   * one failure as final. ioredis's own retries come here too; without this check each would wait with listeners of its
   * own.
   */
  override async connect(): Promise<void> {
    const isFirst = this.status === 'wait'
    try {
      await super.connect()
    } catch (error) {
      if (!isFirst || this.status === 'end') throw error
      await readyOr(this, error)
    }
  }

  /**
   * Between two tries ioredis drops the next one and never says `end`, which BullMQ waits for when it closes. A
   * connection that waits for its first try does say so.
   */
  override disconnect(reconnect = false): void {
    if (!reconnect && this.status === 'reconnecting') this.status = 'wait'
    super.disconnect(reconnect)
  }

  /** Waits for no server that is away: there is nothing to take leave of. */
  override async quit(): Promise<'OK'> {
    if (this.status === 'ready') return super.quit()
    this.disconnect()
    return 'OK'
  }

  override duplicate(override?: Partial<RedisOptions>): Redis {
    return new WhenFullRedis({ ...this.options, ...override, replyMapping: 'legacy' })
  }
}

/** For a worker to duplicate; `url` as in BullMQ's own options. */
export function connectionWhenFull({ url, ...options }: RedisOptions & { url?: string }): Redis {
  const lazy = { ...options, lazyConnect: true, replyMapping: 'legacy' as const }
  return url === undefined ? new WhenFullRedis(lazy) : new WhenFullRedis(url, lazy)
}

/** Rejects with the failure where the connection is ended before it is ready. */
function readyOr(redis: Redis, failure: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const ready = () => {
      redis.off('end', ended)
      resolve()
    }
    const ended = () => {
      redis.off('ready', ready)
      reject(failure)
    }
    redis.once('ready', ready)
    redis.once('end', ended)
  })
}
