/** `fantail dev` runs a whole stack in the foreground: Redis, the API, a worker and the redrive service. */
import { once } from 'node:events'
import { resolve } from 'node:path'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { readWhole } from '../../frame/command-input.ts'
import { CommandError } from '../../output/exit-codes.ts'
import { type DevAddresses, DevStack } from './dev-stack.ts'

const PORT_DEFAULT = '4100'
/** The highest port that may be chosen: the services need three ports in a row. */
const LAST_DEV_PORT = 65_533
const STAY_MS = 60_000

interface DevFlags {
  port?: string
  ephemeral?: boolean
  data?: string
  verbose?: boolean
}

export const dev: Define = (command, does) => {
  command
    .option('--port <port>', `the API's port; worker and redrive service take the next two (${PORT_DEFAULT})`)
    .option('--ephemeral', 'keeps no data; without --port it takes free ports')
    .option('--data <folder>', 'where data is kept from start to start (.fantail/dev)')
    .option('--verbose', 'shows every line of the logs, and not warnings alone')
    .action(does(runStack))
  examples(
    command,
    'dev',
    'dev --port 4200 --data ./fantail-data',
    'dev --ephemeral --json  # for tests: one line with the addresses, once all is ready',
  )
}

async function runStack(context: CommandContext, flags: DevFlags): Promise<void> {
  const { out, env, signal } = context
  const isEphemeral = flags.ephemeral === true
  if (isEphemeral && flags.data !== undefined) {
    throw new CommandError('usage', '--ephemeral keeps no data, so --data makes no sense with it')
  }
  const given = flags.port ?? (isEphemeral ? '0' : env.FANTAIL_PORT?.trim() || PORT_DEFAULT)
  const stack = new DevStack({
    port: readPort(given),
    dataDir: isEphemeral ? undefined : resolve(flags.data ?? '.fantail/dev'),
    env,
    onLine: (service, line) => {
      // Every service warns if Redis keeps nothing on disk. With --ephemeral that is intended.
      if (isEphemeral && line.includes('"msg":"redis.volatile"')) return
      showLine(context, { service, line, isVerbose: flags.verbose === true })
    },
  })
  // Nothing else keeps the process running between two requests.
  const alive = setInterval(() => undefined, STAY_MS)
  try {
    const addresses = await stack.start(signal)
    out.item(addresses, () => welcome(addresses), addresses.url)
    await Promise.race([once(signal, 'abort'), stack.failure()])
  } finally {
    clearInterval(alive)
    await stack.stop()
  }
  signal.throwIfAborted()
}

function readPort(text: string): number {
  const port = readWhole(text, '--port')
  if (port <= LAST_DEV_PORT) return port
  throw new CommandError('usage', `--port must be at most ${LAST_DEV_PORT}, not ${text}`)
}

interface LogLine {
  service: string
  line: string
  isVerbose: boolean
}

/** pino's number of a warning. */
const WARN_LEVEL = 40

function showLine({ out }: CommandContext, { service, line, isVerbose }: LogLine): void {
  if (isVerbose || levelOf(line) >= WARN_LEVEL) out.warn(`${service} ${line}`)
}

/** A line that is no record of the log comes from Node itself, and is an error. */
function levelOf(line: string): number {
  const level = /^\{"level":"?(\w+)/.exec(line)?.[1]
  if (level === undefined) return line.trim() === '' ? 0 : WARN_LEVEL
  return LEVELS.get(level) ?? Number(level)
}

const LEVELS = new Map([
  ['trace', 10],
  ['debug', 20],
  ['info', 30],
  ['warn', 40],
  ['error', 50],
  ['fatal', 60],
])

function welcome({ url, consoleUrl, services, redisUrl, dataDir }: DevAddresses): string {
  const flag = url === `http://127.0.0.1:${PORT_DEFAULT}` ? '' : ` --url ${url}`
  return [
    `  API       ${url}`,
    ...(consoleUrl === null ? [] : [`  console   ${consoleUrl}`]),
    `  worker    ${services.worker}`,
    `  redrive   ${services.redrive}`,
    ...(redisUrl === null ? [] : [`  Redis     ${redisUrl}`]),
    '',
    'Fantail is ready. In another terminal:',
    `  fantail topics create hello${flag}`,
    `  fantail listen hello --forward-to localhost:3000${flag}`,
    `  fantail publish hello "Hello from Fantail"${flag}`,
    '',
    dataDir === null ? 'Ctrl-C ends everything.' : `Ctrl-C ends everything; the data stays in ${dataDir}.`,
  ].join('\n')
}
