/** Watches what processes send to Redis that are started from now on. */
import type { Redis } from '@fantail/store'
import { type SeenCommand, watchCommands } from '@fantail/test-kit'

interface Watch {
  start(): Promise<void>
  /** Call it when the processes have ended. Resolves with their commands since `start`, such as `get <key>`. */
  end(): Promise<string[]>
}

export async function watchOthers(redis: Redis): Promise<Watch> {
  const known = await addresses(redis)
  let watched: () => Promise<SeenCommand[]> = async () => []
  return {
    async start() {
      watched = await watchCommands(redis)
    },
    async end() {
      const seen = await watched()
      // A process that was there before may have connected again.
      const living = await addresses(redis)
      // Commands of a script belong to the line of the script.
      const isOther = ({ source, inScript }: SeenCommand) =>
        !inScript && !known.has(source) && !living.has(source)
      return seen.filter(isOther).map(({ words }) => lineOf(words))
    },
  }
}

async function addresses(redis: Redis): Promise<Set<string>> {
  const list = String(await redis.client('LIST'))
  return new Set([...list.matchAll(/ addr=(\S+)/g)].map(([, address]) => address ?? ''))
}

function lineOf([name = '', ...args]: string[]): string {
  const command = name.toLowerCase()
  if (command.startsWith('eval')) return `script on ${args[2]}`
  return command === 'get' ? `get ${args[0]}` : command
}
