/**
 * One worker and one API without work: round trips to Redis, counted at its socket, and CPU time. Measured once with an
 * empty Redis, and once with subscriptions, paused lanes full of deliveries, and retries that are due in a day.
 */
import { type CountingProxy, startCountingProxy } from '@fantail/test-kit'
import { cpuMs } from '../../processes/children.ts'
import {
  type Deployment,
  type Service,
  type ServiceName,
  startDeployment,
} from '../../processes/deployment.ts'
import { monotonicMs } from '../../processes/monotonic.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { createTopic, messagesFor, park } from '../parts/backlog.ts'

const SETTLE_MS = 8_000
const MEASURED_MS = 30_000
const QUICK_MS = 5_000
const SERVICES: ServiceName[] = ['delivery-worker', 'publish-api']
const RETRY_STATE = { kind: 'retry', attempts: 1, statusCode: 503, error: null } as const

export const idle: Scenario = {
  name: 'idle',
  summary: 'one worker and one API with nothing to do: round trips, CPU',
  run: async (options) => [...(await measure('empty', options)), ...(await measure('with lanes', options))],
}

async function measure(what: 'empty' | 'with lanes', options: ScenarioOptions): Promise<Row[]> {
  const deployment = await startDeployment({ profileDir: options.profileDir })
  if (what === 'with lanes') await fill(deployment)
  const watched = await Promise.all(SERVICES.map((name) => watch(deployment, name)))
  await pause(options.quick ? QUICK_MS : SETTLE_MS)
  const before = watched.map(countsOf)
  const redisBefore = await deployment.server.cpuMs()
  const startedAt = monotonicMs()
  await pause(options.quick ? QUICK_MS : MEASURED_MS)
  const ms = monotonicMs() - startedAt
  const after = watched.map(countsOf)
  const redis = ((await deployment.server.cpuMs()) - redisBefore) / ms
  await deployment.stop()
  for (const { proxy } of watched) proxy.stop()
  const rows = watched.flatMap(({ name }, i): Row[] => {
    const trips = (((after[i]?.trips ?? 0) - (before[i]?.trips ?? 0)) * 1_000) / ms
    const cpu = ((after[i]?.cpu ?? 0) - (before[i]?.cpu ?? 0)) / ms
    return [
      { figure: `${name}, ${what}, round trips`, value: trips, unit: '/s', atMost: 1.89 },
      { figure: `${name}, ${what}, CPU`, value: cpu * 100, unit: '% of a core', atMost: 1 },
    ]
  })
  return [...rows, { figure: `Redis, ${what}`, value: redis * 100, unit: '% of a core', atMost: 1 }]
}

async function fill({ redis }: Deployment): Promise<void> {
  const shape = { subscriptions: 100, endpoint: (number: number) => `http://127.0.0.1:9/idle-${number}` }
  const waits = await createTopic(redis, { name: 'idle-paused', ...shape, paused: true })
  await park(redis, waits.lanes, messagesFor(waits.arn, 100, 1_024), { as: 'fresh' })
  const retries = await createTopic(redis, { name: 'idle-retries', ...shape })
  const later = { as: 'retry', delayMs: 86_400_000, state: RETRY_STATE } as const
  await park(redis, retries.lanes, messagesFor(retries.arn, 1, 1_024), later)
}

interface Watched {
  name: ServiceName
  service: Service
  proxy: CountingProxy
}

async function watch(deployment: Deployment, name: ServiceName): Promise<Watched> {
  const proxy = await startCountingProxy(Number(new URL(deployment.server.url).port))
  const service = await deployment.startService(name, { redisUrl: proxy.url })
  return { name, service, proxy }
}

function countsOf({ service, proxy }: Watched) {
  return { trips: proxy.trips(), cpu: cpuMs(service.pid) }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
