/** Simulates a process that dies in the middle of its work, as Redis sees it, that stands still, or that waits. */
import type { Redis } from 'ioredis'

/**
 * A connection whose process dies. `dies` chooses a script. This script and all later ones fail. With `after`, Redis
 * still runs the chosen script, and only its reply is lost.
 */
export function crashing(redis: Redis, dies: (script: string) => boolean, after = false): Redis {
  let dead = false
  return onScripts(redis, async (script, call) => {
    const first = !dead && dies(script)
    dead ||= first
    if (first && after) await call()
    if (dead) throw new Error('crashed')
    return call()
  })
}

/**
 * A client that sends the first call of a script when a later call of it has been answered. Whoever awaits each call
 * before the next one waits for ever.
 */
export function waitingFirst(redis: Redis, waits: string): Redis {
  const answered = Promise.withResolvers<void>()
  let isFirst = true
  return onScripts(redis, async (script, call) => {
    if (script !== waits) return call()
    if (isFirst) {
      isFirst = false
      await answered.promise
      return call()
    }
    return Promise.resolve(call()).finally(answered.resolve)
  })
}

/** A client that does something before it first calls a script. */
export function beforeFirst(redis: Redis, script: string, work: () => Promise<unknown>): Redis {
  let isFirst = true
  return onScripts(redis, async (called, call) => {
    if (called === script && isFirst) {
      isFirst = false
      await work()
    }
    return call()
  })
}

/** A client that leaves each call of a script to `run`. */
function onScripts(redis: Redis, run: (script: string, call: () => unknown) => Promise<unknown>): Redis {
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      const command = value.bind(target) as (...args: unknown[]) => unknown
      const script = /^(.+-\d+)Buffer$/.exec(String(name))?.[1]
      if (script === undefined) return command
      return (...args: unknown[]) => run(script, () => command(...args))
    },
  })
}

/** Stops this thread, so that it stands still like a suspended process. Other threads and processes go on. */
export function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
