/**
 * The processes of Fantail that run now. Each reports itself every few seconds (`REPORT_MS`). A process that stops
 * removes itself. One that was killed is no longer shown after `SILENT_MS`, and the next report of any process removes
 * it from Redis.
 */
import type { Redis } from 'ioredis'
import { PROCESSES_BASE, processRecordsKey } from '../keys/keys.ts'
import { parseStored } from '../records/stored-json.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable } from '../redis/unreadable.ts'

const REPORT = readScript('report-process-1')
const END = readScript('end-process-1')
const LIST = readScript('list-processes-1')

/** Each report is one round trip. */
export const REPORT_MS = 10_000
/** Two reports may be lost. */
const SILENT_MS = 35_000
/** @limit Processes that the list of processes has. Past it: further ones are not listed. */
const PROCESSES_MAX = 500

export interface ProcessReport {
  id: string
  /** `publish-api`, `delivery-worker` or `redrive`. */
  role: string
  /** FANTAIL_MODE. */
  mode: 'local' | 'server'
  version: string
  commit: string
  host: string
  pid: number
  /** ISO 8601. */
  startedAt: string
  /** Attempts under way and how many there may be. null: the role makes no attempts. */
  slots: { used: number; max: number } | null
  /** Share of the time in which the event loop had work since the report before, 0 to 1. */
  load: number
  /** How late timers were since the report before: the 99th percentile, ms. */
  lagMs: number
}

interface ListedProcess extends ProcessReport {
  /** Epoch ms. */
  lastSeenAt: number
}

export class Processes {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Returns false if too many other processes are listed. */
  async report(report: ProcessReport): Promise<boolean> {
    const args = { base: PROCESSES_BASE, id: report.id, record: JSON.stringify(report) }
    const reply = await runScript(this.#redis, REPORT, {
      ...args,
      silentMs: SILENT_MS,
      processesMax: PROCESSES_MAX,
    })
    return reply === 1
  }

  async end(id: string): Promise<void> {
    await runScript(this.#redis, END, { base: PROCESSES_BASE, id })
  }

  /** How many processes of the other mode are listed. */
  async ofOtherMode(mode: ProcessReport['mode']): Promise<number> {
    const { processes } = await this.list()
    return processes.filter((process) => process.mode !== mode).length
  }

  /** Sorted by role and start. `at`: Redis’s time, epoch ms. */
  async list(): Promise<{ at: number; processes: ListedProcess[] }> {
    const reply = await runScript(this.#redis, LIST, { base: PROCESSES_BASE, silentMs: SILENT_MS })
    const [at, ...found] = (reply as unknown[]).map(String)
    const processes: ListedProcess[] = []
    for (let i = 0; i < found.length; i += 2) {
      const [report] = ifReadable(() => parseStored(found[i] ?? '', processRecordsKey()))
      if (report)
        processes.push({ ...(report as unknown as ProcessReport), lastSeenAt: Number(found[i + 1]) })
    }
    const order = ({ role, startedAt, id }: ProcessReport) => `${role} ${startedAt} ${id}`
    return {
      at: Number(at),
      processes: processes.sort((a, b) => (order(a) < order(b) ? -1 : 1)),
    }
  }
}
