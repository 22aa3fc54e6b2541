/**
 * The connection of a BullMQ worker. It completes no job whose copies may be gone (completion-guard.ts).
 *
 * BullMQ's scripts run on it even when Redis is out of memory. Without it an accepted message could not be dispatched
 * until memory is freed, and its delivery may be what frees memory. Only workers get such a connection. Publishers add
 * jobs on a connection that Redis refuses. A worker's scripts add little (a lock, an event, a marker).
 *
 * Redis lets a script write when memory is full once the script has run a write that needs no memory. Each script
 * therefore first deletes a key that never exists. The key shares the slot of the script's own keys.
 *
 * A worker works on duplicates of the connection that it is given. That one connects only if the worker has a job
 * scheduler, which shares it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { followConnection, openSince } from '@fantail/store'
import { Redis, type RedisOptions } from 'ioredis'
import { type CompletionGuard, completedJob } from './completion-guard.ts'

const FIRST_WRITE = "redis.call('DEL', KEYS[1] .. ':never')\n"

type Sent = Parameters<Redis['sendCommand']>

class WhenFullRedis extends Redis {
  guard: CompletionGuard | undefined

  /**
   * ioredis calls this for each command, and again for commands that it repeats after a reconnect. The copies that a
   * completion relies on may be gone by then.
   */
  override sendCommand(...sent: Sent): unknown {
    const job = this.guard && this.status === 'ready' ? completedJob(sent[0]) : undefined
    if (!this.guard || job === undefined || this.guard.mayComplete(job, () => openSince(this)))
      return super.sendCommand(...sent)
    void this.#prove(job, this.guard, sent)
    return sent[0].promise
  }

  async #prove(job: string, guard: CompletionGuard, [command, ...rest]: Sent): Promise<void> {
    try {
      // Repeated commands are sent just before 'ready' is emitted.
      await nextTurn()
      await guard.prove(job, () => openSince(this))
      this.sendCommand(command, ...rest)
    } catch (error) {
      command.reject(error as Error)
    }
  }

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
    return guarded(new WhenFullRedis({ ...this.options, ...override, replyMapping: 'legacy' }), this.guard)
  }
}

/** For a worker to duplicate; `url` as in BullMQ's own options. */
export function connectionWhenFull(
  { url, ...options }: RedisOptions & { url?: string },
  guard?: CompletionGuard,
): Redis {
  const lazy = { ...options, lazyConnect: true, replyMapping: 'legacy' as const }
  return guarded(url === undefined ? new WhenFullRedis(lazy) : new WhenFullRedis(url, lazy), guard)
}

function guarded(redis: WhenFullRedis, guard: CompletionGuard | undefined): Redis {
  redis.guard = guard
  if (guard) followConnection(redis)
  return redis
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
