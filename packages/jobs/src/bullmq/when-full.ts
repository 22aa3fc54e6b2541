/**
 * The connection of a BullMQ worker. Before it completes a job, it checks that the run's copies still exist
 * (completion-guard.ts).
 *
 * BullMQ's scripts run on it even when Redis is out of memory. Otherwise an accepted message could not be dispatched
 * until memory is freed, although its delivery may free memory. Only workers get such a connection. Redis refuses a
 * publisher's jobs when memory is full. A worker's scripts add little: a lock, an event, a marker.
 *
 * Redis lets a script write when memory is full once the script has run a write that needs no memory. Each script
 * therefore first deletes a key that never exists. This key shares the slot of the script's own keys.
 *
 * A worker duplicates the given connection, and uses the duplicates. The given connection itself connects only if the
 * worker has a job scheduler, which shares it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { followConnection } from '@fantail/store'
import { Redis, type RedisOptions } from 'ioredis'
import { type CompletionGuard, completedJob } from './completion-guard.ts'

const FIRST_WRITE = "redis.call('DEL', KEYS[1] .. ':never')\n"

type Sent = Parameters<Redis['sendCommand']>

class WhenFullRedis extends Redis {
  guard: CompletionGuard | undefined

  /**
   * ioredis calls this for each command, and again when it repeats a command after a reconnect. By then the copies may
   * be gone, so each call is checked.
   */
  override sendCommand(...sent: Sent): unknown {
    const job = this.guard && this.status === 'ready' ? completedJob(sent[0]) : undefined
    if (!this.guard || job === undefined || this.guard.mayComplete(job, this))
      return super.sendCommand(...sent)
    void this.#prove(job, this.guard, sent)
    return sent[0].promise
  }

  async #prove(job: string, guard: CompletionGuard, [command, ...rest]: Sent): Promise<void> {
    try {
      // ioredis repeats commands just before it emits 'ready'.
      await nextTurn()
      await guard.prove(job, this)
      this.sendCommand(command, ...rest)
    } catch (error) {
      command.reject(error as Error)
    }
  }

  override defineCommand(...[name, definition]: Parameters<Redis['defineCommand']>): void {
    super.defineCommand(name, { ...definition, lua: FIRST_WRITE + definition.lua })
  }

  /**
   * Called for a lazy connection. BullMQ takes one failure as final, so this resolves only once the connection is
   * there, after any number of failures. ioredis's own retries also call this. They are told apart by the status,
   * because each would add listeners that wait.
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
   * Between two tries, `disconnect` of ioredis cancels the next try and never emits `end`. BullMQ waits for `end` when
   * it closes. A connection with status `wait` does emit it.
   */
  override disconnect(reconnect = false): void {
    if (!reconnect && this.status === 'reconnecting') this.status = 'wait'
    super.disconnect(reconnect)
  }

  /** If the server cannot be reached, the connection ends at once. QUIT would wait for the server. */
  override async quit(): Promise<'OK'> {
    if (this.status === 'ready') return super.quit()
    this.disconnect()
    return 'OK'
  }

  override duplicate(override?: Partial<RedisOptions>): Redis {
    return guarded(new WhenFullRedis({ ...this.options, ...override, replyMapping: 'legacy' }), this.guard)
  }
}

/** The connection that a worker duplicates. `url` is as in BullMQ's own options. */
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

/** Resolves when the connection is ready. Rejects with `failure` if it ends before. */
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
