/**
 * Commands on keys of any shards, in one round trip. On a single Redis this is a pipeline. On a cluster the commands
 * are sent one by one, each to its slot's master. ioredis would send a pipeline to one node, and repeat all of it if
 * one slot has moved.
 */
import type { ChainableCommander, Redis } from 'ioredis'
import { isCluster } from './connections/cluster.ts'

export function batch(redis: Redis): ChainableCommander {
  if (!isCluster(redis)) return redis.pipeline()
  const commands: [name: string, args: unknown[]][] = []
  const exec = () => Promise.all(commands.map(([name, args]) => outcome(redis, name, args)))
  const recorder: unknown = new Proxy(
    {},
    {
      get: (_, name: string) => {
        if (name === 'exec') return exec
        return (...args: unknown[]) => {
          commands.push([name, args])
          return recorder
        }
      },
    },
  )
  return recorder as ChainableCommander
}

type Command = (...args: unknown[]) => Promise<unknown>

async function outcome(redis: Redis, name: string, args: unknown[]): Promise<[Error | null, unknown]> {
  const command = (redis as unknown as Record<string, Command>)[name]
  if (!command) throw new Error(`no command ${name}`)
  try {
    return [null, await command.apply(redis, args)]
  } catch (error) {
    return [error as Error, null]
  }
}
