/** Processes that die in the middle of their work, as far as Redis can see. */
import type { Redis } from 'ioredis'

/**
 * The connection of a process that dies: from the first script for which `dies` answers true, every script fails, that
 * one included. With `after`, that one is still carried out and only its reply is lost.
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
