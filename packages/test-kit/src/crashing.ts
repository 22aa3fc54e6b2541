/** Simulates a process that dies in the middle of its work, as Redis sees it, or that stands still. */
import type { Redis } from 'ioredis'

/**
 * A connection whose process dies. `dies` chooses a script. This script and all later ones fail. With `after`, Redis
 * still runs the chosen script, and only its reply is lost.
 */
export function crashing(redis: Redis, dies: (script: string) => boolean, after = false): Redis {
  let dead = false
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      const command = value.bind(target) as (...args: unknown[]) => unknown
      const script = /^(.+-\d+)Buffer$/.exec(String(name))?.[1]
      if (script === undefined) return command
      return async (...args: unknown[]) => {
        const first = !dead && dies(script)
        dead ||= first
        if (first && after) await command(...args)
        if (dead) throw new Error('crashed')
        return command(...args)
      }
    },
  })
}

/** Stops this thread, so that it stands still like a suspended process. Other threads and processes go on. */
export function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
