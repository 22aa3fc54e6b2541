/**
 * All services without work: round trips to Redis, counted at the socket of each service, and the commands by name. A
 * blocking wait of BullMQ, and the request for a job that follows each wait, are left out of the sum.
 */
import { type CountingProxy, startCountingProxy } from '@fantail/test-kit'
import { SERVICES, type ServiceName, startDeployment } from '../../processes/deployment.ts'
import { monotonicMs } from '../../processes/monotonic.ts'
import type { Row, Scenario } from '../../scenario.ts'

const SETTLE_MS = 8_000
const MEASURED_MS = 30_000
const QUICK_MS = 5_000
const ATMOST_PER_SECOND = 2
/** The script that asks for a job has the key of waiting jobs. */
const WAIT = /^(bzpopmin|evalsha) \S+:wait$|^bzpopmin/

export const idleStack: Scenario = {
  name: 'idle-stack',
  summary: 'all services with nothing to do: round trips to Redis in 30 s, each by name',
  run: async ({ quick, profileDir }) => {
    const deployment = await startDeployment({ profileDir })
    const watched: Watched[] = []
    for (const name of SERVICES) {
      const found = await watch(name, Number(new URL(deployment.server.url).port))
      await deployment.startService(name, { redisUrl: found.proxy.url })
      watched.push(found)
    }
    await pause(quick ? QUICK_MS : SETTLE_MS)
    for (const one of watched) begin(one)
    const startedAt = monotonicMs()
    await pause(quick ? QUICK_MS : MEASURED_MS)
    const seconds = (monotonicMs() - startedAt) / 1_000
    const rows = watched.map((one) => rowFor(one, seconds))
    await deployment.stop()
    for (const { proxy } of watched) proxy.stop()
    const sum = rows.reduce((total, { value }) => total + value, 0)
    const figure = 'all services, round trips beside BullMQ’s waits'
    return [...rows, { figure, value: sum, unit: '/s', atMost: ATMOST_PER_SECOND }]
  },
}

interface Watched {
  name: ServiceName
  proxy: CountingProxy
  /** Writes by the commands in them. */
  writes: Map<string, number>
  tripsBefore: number
}

async function watch(name: ServiceName, redisPort: number): Promise<Watched> {
  const writes = new Map<string, number>()
  const proxy = await startCountingProxy(redisPort, (commands) => {
    const text = describe(commands)
    writes.set(text, (writes.get(text) ?? 0) + 1)
  })
  return { name, proxy, writes, tripsBefore: 0 }
}

function begin(watched: Watched): void {
  watched.writes.clear()
  watched.tripsBefore = watched.proxy.trips()
}

function rowFor({ name, proxy, writes, tripsBefore }: Watched, seconds: number): Row {
  const waits = [...writes].filter(([text]) => WAIT.test(text)).reduce((sum, [, count]) => sum + count, 0)
  const trips = proxy.trips() - tripsBefore - waits
  return {
    figure: `${name}, round trips beside BullMQ’s waits`,
    value: trips / seconds,
    unit: '/s',
    note: namesOf(writes),
  }
}

const namesOf = (writes: Watched['writes']) =>
  [...writes]
    .sort(([, a], [, b]) => b - a)
    .map(([text, count]) => `${count} × ${text}`)
    .join('; ')

/** A write is one round trip, with one command or several. */
function describe(commands: string[][]): string {
  const counts = new Map<string, number>()
  for (const words of commands) {
    const text = nameOf(words)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts].map(([text, count]) => (count === 1 ? text : `${count} ${text}`)).join(' + ')
}

/** A script is named by its first key. Shards and dispatch queues have one name each. */
function nameOf([command = '', ...rest]: string[]): string {
  const name = command.toLowerCase()
  const key = (name.startsWith('eval') ? rest[2] : rest[0]) ?? ''
  const short = key
    .replace(/^ft:\{dispatch-\w+\}:dispatch-\d+/, 'dispatch')
    .replace(/^ft:\{\w{1,3}\}:/, 'shard')
  return `${name} ${short}`.trim()
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
