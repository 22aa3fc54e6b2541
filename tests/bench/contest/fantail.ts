/** Fantail as a contestant: all its services, used only over HTTP. */
import { Pool } from 'undici'
import type { BenchRedis } from '../processes/bench-redis.ts'
import { SERVICES, type ServiceName, startDeployment } from '../processes/deployment.ts'
import { ask } from '../processes/ipc.ts'
import type { Contestant, Ends } from './contestant.ts'

export interface FantailOptions extends Ends {
  /** Further settings of every service. */
  env?: NodeJS.ProcessEnv
  /** Settings of its topics and subscriptions, in addition to the endpoints. */
  topic?: object
  subscription?: object
  /** Each subscription signs with its own Standard Webhooks key. */
  webhookKeys?: 'hmac-sha256' | 'ed25519' | undefined
  /** Folder of the tree to run; default: this one. */
  tree?: string | undefined
  /** The services to run; default: all. */
  services?: readonly ServiceName[]
}

const ROLES = { 'publish-api': 'api', 'delivery-worker': 'worker', redrive: 'redrive' } as const

export interface Fantail extends Contestant {
  /** The API's port. */
  port: number
  redis: BenchRedis
  createTopic(topic: string, endpoints?: string[]): Promise<void>
}

const SUBSCRIBERS_AT_ONCE = 32

export async function startFantail(options: FantailOptions): Promise<Fantail> {
  const { receiverPort, publishers, profileDir, services = SERVICES } = options
  const deployment = await startDeployment({ profileDir, env: options.env, tree: options.tree })
  const port = deployment.apiPort
  const pids = services.map(async (name) => [ROLES[name], (await deployment.startService(name)).pid])
  const processes: Record<string, number> = Object.fromEntries(await Promise.all(pids))
  const topics = new Set<string>()
  const newTopic = async (topic: string, endpoints: string[] = []) => {
    if (!topics.has(topic)) await createTopic(port, topic, endpoints, options)
    topics.add(topic)
  }
  return {
    processes,
    redis: deployment.server,
    port,
    createTopic: newTopic,
    load: async (paths, load) => {
      const topic = `fanout-${paths.length}`
      await newTopic(
        topic,
        paths.map((path) => `http://127.0.0.1:${receiverPort}${path}`),
      )
      return ask(publishers, 'load', { port, paths: [`/v1/topics/${topic}/messages`], ...load })
    },
    stop: deployment.stop,
  }
}

export async function createTopic(
  port: number,
  topic: string,
  endpoints: string[],
  settings: Pick<FantailOptions, 'topic' | 'subscription' | 'webhookKeys'>,
): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: SUBSCRIBERS_AT_ONCE })
  const path = `/v1/topics/${topic}`
  await call(pool, { method: 'PUT', path, body: settings.topic ?? {} })
  let next = 0
  const subscribe = async () => {
    for (let endpoint = endpoints[next++]; endpoint !== undefined; endpoint = endpoints[next++]) {
      const body = { ...settings.subscription, endpoint }
      const { id } = await call<{ id: string }>(pool, { method: 'POST', path: `${path}/subscriptions`, body })
      if (settings.webhookKeys === undefined) continue
      const key = { algorithm: settings.webhookKeys }
      await call(pool, { method: 'POST', path: `/v1/subscriptions/${id}/webhook-keys`, body: key })
    }
  }
  await Promise.all(Array.from({ length: SUBSCRIBERS_AT_ONCE }, subscribe))
  await pool.close()
}

interface Request {
  method: 'PUT' | 'POST'
  path: string
  body: object
}

async function call<T>(pool: Pool, { method, path, body }: Request): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const answer = await pool.request({ method, path, headers, body: JSON.stringify(body) })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
  return JSON.parse(text) as T
}
