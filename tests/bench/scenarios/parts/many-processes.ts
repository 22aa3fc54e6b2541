/**
 * `fantail all` with several workers and APIs, on some of the machine's cores. One receiver or one publishing process
 * would be the bottleneck of many workers, so each two cores have a receiver and publishers of their own.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { freePort, waitFor } from '@fantail/test-kit'
import { createTopic } from '../../contest/fantail.ts'
import { measure } from '../../contest/measure.ts'
import { startBenchRedis } from '../../processes/bench-redis.ts'
import { cpuMs, end, start } from '../../processes/children.ts'
import { ask } from '../../processes/ipc.ts'
import { BODY_BYTES, CONNECTIONS, type Stage } from '../../stage.ts'

const FAN_OUT = 10
const TURN_MS_MAX = 60_000

export interface ManyOptions {
  workers: number
  apis: number
  /** Cores for Fantail's processes. Absent: it may use all. */
  cores?: number | undefined
}

interface ManyLap {
  deliveriesPerSecond: number
  /** CPU microseconds per delivery: all processes of a role together. */
  cpuMicros: Record<string, number>
}

export interface ManyProcesses {
  lap(deliveries: number): Promise<ManyLap>
  stop(): Promise<void>
}

export async function startMany(stages: Stage[], options: ManyOptions): Promise<ManyProcesses> {
  const redis = await startBenchRedis()
  const port = await freePort()
  const words = ['--conditions=@fantail/source', 'infra/bin/fantail.mjs', 'all']
  const counts = ['--workers', String(options.workers), '--apis', String(options.apis)]
  const command = [...restriction(options.cores), process.execPath, ...words, ...counts]
  const env = { FANTAIL_MODE: 'local', FANTAIL_PORT: String(port), FANTAIL_LOG_LEVEL: 'error' }
  const all = start(command[0] ?? '', command.slice(1), { ...env, REDIS_URL: redis.url })
  const ops = [...portsOf(options.workers, port + 10), ...portsOf(options.apis, port + 110), port + 2]
  for (const opsPort of ops)
    await waitFor(() => isReady(opsPort), { what: `port ${opsPort}`, timeoutMs: 60_000 })
  const pids = processesOf(all.pid ?? 0)
  for (const [n, { receiverPort }] of stages.entries()) {
    const endpoints = Array.from({ length: FAN_OUT }, (_, k) => `http://127.0.0.1:${receiverPort}/s${k}`)
    await createTopic(port, `scale-${n}`, endpoints, {})
  }
  const used = async () => ({ ...cpuByRole(pids), redis: await redis.cpuMs() })
  return {
    lap: async (deliveries) => {
      const before: Record<string, number> = await used()
      const measured = await Promise.all(stages.map((stage, n) => load(stage, { port, n, deliveries })))
      const after: Record<string, number> = await used()
      const total = measured.reduce((sum, one) => sum + one.deliveries, 0)
      const micros = Object.entries(after).map(([role, ms]) => [
        role,
        ((ms - (before[role] ?? 0)) * 1_000) / total,
      ])
      const deliveriesPerSecond = measured.reduce((sum, one) => sum + one.deliveriesPerSecond, 0)
      return { deliveriesPerSecond, cpuMicros: Object.fromEntries(micros) }
    },
    stop: async () => {
      await end(all)
      await redis.stop()
    },
  }
}

async function load(
  { receiver, publishers }: Stage,
  { port, n, deliveries }: Record<'port' | 'n' | 'deliveries', number>,
) {
  const measured = await measure({
    contestant: {
      processes: {},
      load: (_, sent) =>
        ask(publishers, 'load', { port, paths: [`/v1/topics/scale-${n}/messages`], ...sent }),
      stop: async () => undefined,
    },
    receiver,
    fanOut: FAN_OUT,
    direct: false,
    load: {
      connections: CONNECTIONS,
      bodyBytes: BODY_BYTES,
      durationMs: TURN_MS_MAX,
      requestsMax: Math.round(deliveries / FAN_OUT),
    },
  })
  if (measured.lost > 0) throw new Error(`${measured.lost} deliveries were lost`)
  return measured
}

const portsOf = (count: number, base: number) => Array.from({ length: count }, (_, n) => base + n + 1)

async function isReady(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false // Not listening yet.
  }
}

/** Role and pid of the command and its processes. */
function processesOf(pid: number): [role: string, pid: number][] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
  const roleOf = (child: number) => readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0').at(-2) ?? ''
  return [['all', pid], ...children.map((child): [string, number] => [roleOf(child), child])]
}

function cpuByRole(pids: [string, number][]): Record<string, number> {
  const byRole: Record<string, number> = {}
  for (const [role, pid] of pids) byRole[role] = (byRole[role] ?? 0) + cpuMs(pid)
  return byRole
}

/** Whether this machine can restrict processes to some cores. */
export function canRestrict(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The words before a command that may use only so many of this process's cores. */
function restriction(cores: number | undefined): string[] {
  if (cores === undefined || !canRestrict()) return []
  const list = /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? ''
  const allowed = list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, n) => first + n)
  })
  return ['taskset', '-c', allowed.slice(0, cores).join(',')]
}
