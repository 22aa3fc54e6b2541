/** Watches what processes send to Redis that are started from now on. */
import type { Redis } from '@fantail/store'

interface Watch {
  start(): void
  /** Call it when the processes have ended. Resolves with their commands since `start`, such as `get <key>`. */
  end(): Promise<string[]>
}

export async function watchOthers(redis: Redis): Promise<Watch> {
  const monitor = await redis.monitor()
  const known = await addresses(redis)
  const sent: { source: string; line: string }[] = []
  let isWatching = false
  monitor.on('monitor', (_time: string, args: string[], source: string) => {
    // Commands of a script belong to the line of the script.
    if (isWatching && source !== 'lua' && !known.has(source)) sent.push({ source, line: lineOf(args) })
  })
  return {
    start: () => {
      isWatching = true
    },
    async end() {
      // A process that was there before may have connected again.
      const living = await addresses(redis)
      monitor.disconnect()
      return sent.filter(({ source }) => !living.has(source)).map(({ line }) => line)
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
