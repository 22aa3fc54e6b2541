/**
 * Starts the services of an installed Fantail and delivers one message by its own command line, as its first user
 * would: a key, a topic, a subscription, a message.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { type Receiver, waitFor } from '@fantail/test-kit'

export interface Installed {
  /** The words before `api`, `keys create` and so on. */
  command: string[]
  /** The whole environment. */
  env: Record<string, string>
}

interface Surroundings {
  redisUrl: string
  receiver: Receiver
  /** Looks at the API after the delivery. */
  look?: (api: string) => Promise<void>
}

const ROLES = ['api', 'worker', 'redrive']
const TEXT = 'hello from an empty machine'
const ARRIVES_MS = 60_000
const SCOPES = ['publish', 'read', 'manage'].flatMap((scope) => ['--scope', scope])

/** Rejects if the message has not arrived a minute after the start of the services. */
export async function deliverOne(
  installed: Installed,
  { redisUrl, receiver, look }: Surroundings,
): Promise<void> {
  const startedAt = performance.now()
  const env = {
    ...installed.env,
    REDIS_URL: redisUrl,
    FANTAIL_MODE: 'server',
    FANTAIL_HOST: '127.0.0.1',
    FANTAIL_PORT: '0',
    FANTAIL_OPS_PORT: '0',
    FANTAIL_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    FANTAIL_OUTBOUND_ALLOW: '127.0.0.1',
  }
  const services = ROLES.map((role) => startService({ ...installed, env }, role))
  try {
    const [port] = await Promise.all(services.map(({ listening }) => listening))
    const key = await run({ ...installed, env }, ['keys', 'create', '--quiet', '--name', 'first', ...SCOPES])
    const api = `http://127.0.0.1:${port}`
    const user = { ...installed, env: { ...installed.env, FANTAIL_URL: api, FANTAIL_API_KEY: key.trim() } }
    await run(user, ['topics', 'create', 'orders'])
    await run(user, ['subs', 'add', 'orders', `${receiver.url}/in`])
    await run(user, ['publish', 'orders', TEXT])
    const timeoutMs = ARRIVES_MS - (performance.now() - startedAt)
    const hasArrived = () => receiver.requests.some(({ body }) => body.includes(TEXT))
    await waitFor(hasArrived, { timeoutMs, what: 'the message to arrive' })
    await look?.(api)
  } finally {
    await Promise.all(services.map(({ stop }) => stop()))
  }
}

interface Service {
  /** The port. Rejects with the log if the service ends before. */
  listening: Promise<number>
  stop(): Promise<void>
}

function startService({ command: [program = '', ...words], env }: Installed, role: string): Service {
  const child = spawn(program, [...words, role], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  const lines: string[] = []
  const listening = new Promise<number>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line)
        if (/"msg":"(api|ops)\.listening"/.test(line)) resolve(JSON.parse(line).port)
      })
    }
    ended.then(() => reject(new Error(`${role} ended while starting:\n${lines.join('\n')}`)), reject)
  })
  return {
    listening,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function run({ command: [program = '', ...words], env }: Installed, args: string[]): Promise<string> {
  return (await promisify(execFile)(program, [...words, ...args], { env })).stdout
}
