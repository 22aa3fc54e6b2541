/** Records the commands that a Redis runs, by MONITOR. Those inside scripts are recorded too. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { Redis } from 'ioredis'

export interface SeenCommand {
  /** The address of the client that sent it. */
  source: string
  /** A script ran it. It follows the call of its script. */
  inScript: boolean
  /** The name first. Special characters are escaped. */
  words: string[]
}

/**
 * Records from now until the returned function is called, which resolves when everything until then is recorded.
 * ioredis's monitor fails if a command of another client follows at once, so this one has a socket of its own.
 */
export async function watchCommands(redis: Redis): Promise<() => Promise<SeenCommand[]>> {
  const { host = '127.0.0.1', port = 6379 } = redis.options
  const socket = connect({ host, port })
  const lines = createInterface(socket)
  socket.write('MONITOR\r\n')
  await once(lines, 'line')
  const seen: SeenCommand[] = []
  const ended = Promise.withResolvers<void>()
  const end = `end ${performance.now()}`
  lines.on('line', (line) => {
    const command = parseLine(line)
    if (command.words[1] === end) ended.resolve()
    else seen.push(command)
  })
  socket.on('error', ended.reject)
  return async () => {
    await redis.echo(end)
    await ended.promise
    socket.destroy()
    return seen
  }
}

/** For example: `+1795662491.869497 [0 lua] "GET" "key"`. */
function parseLine(line: string): SeenCommand {
  const parts = /^\+\S+ \[\d+ (\S+)\] "(.*)"$/.exec(line)
  if (!parts) throw new Error(`not a line of MONITOR: ${line}`)
  const [, source = '', words = ''] = parts
  return { source, inScript: source === 'lua', words: words.split('" "') }
}
