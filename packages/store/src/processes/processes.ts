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
import { type DataFormat, parseDataFormat, readDataFormat, UnknownDataError } from './data-format.ts'
import { OWN_FORMAT, type OwnFormat } from './own-format.ts'

const REPORT = readScript('report-process-1')
const END = readScript('end-process-1')
const LIST = readScript('list-processes-1')

/** Each report is one round trip. */
export const REPORT_MS = 10_000
/** Two reports may be lost. */
export const SILENT_MS = 35_000
/**
 * How long every report must have known a format or capability before it takes effect. A process sends nothing to Redis
 * if its latest report is older than SILENT_MS (report-gate.ts), and a clock that is set by less than GAP_MS_MAX
 * shortens this time. A process that is started again meanwhile therefore still counts.
 */
const EFFECT_AFTER_MS = 60_000
/** Two reports may be lost. Past it: Redis's clock may have been set. */
const GAP_MS_MAX = 25_000
/** Replies to a report. */
const LISTED = 1
const REFUSED = 2
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
  /** The newest format that the process reads. */
  format: number
  /** That the process knows, in effect or not. */
  capabilities: string[]
  /** Epoch ms. */
  lastSeenAt: number
}

interface ProcessList {
  /** Redis’s time, epoch ms. */
  at: number
  /** Sorted by role and start. */
  processes: ListedProcess[]
  /** undefined: no process has reported yet. */
  data: DataFormat | undefined
}

export class Processes {
  readonly #redis: Redis
  readonly #own: OwnFormat
  /** The reply to the latest report. */
  #known = ''

  /** `own`: what the reporting process knows of the data. */
  constructor(redis: Redis, own: OwnFormat = OWN_FORMAT) {
    this.#redis = redis
    this.#own = own
  }

  /**
   * Returns false if too many other processes are listed. Throws an UnknownDataError if this process must not use the
   * data.
   */
  async report(report: ProcessReport): Promise<boolean> {
    const { oldest, newest, capabilities } = this.#own
    const reply = await runScript(this.#redis, REPORT, {
      base: PROCESSES_BASE,
      id: report.id,
      record: JSON.stringify({ ...report, format: newest, capabilities }),
      silentMs: SILENT_MS,
      processesMax: PROCESSES_MAX,
      known: this.#known,
      oldest,
      newest,
      effectAfterMs: EFFECT_AFTER_MS,
      gapMsMax: GAP_MS_MAX,
      capabilities: [...capabilities],
    })
    const [state, data] = reply as [number, Buffer]
    if (state === REFUSED) throw new UnknownDataError(parseDataFormat(String(data)), this.#own)
    this.#known = String(data)
    return state === LISTED
  }

  async end(id: string): Promise<void> {
    await runScript(this.#redis, END, { base: PROCESSES_BASE, id })
  }

  /** How many processes of the other mode are listed. */
  async ofOtherMode(mode: ProcessReport['mode']): Promise<number> {
    const { processes } = await this.list()
    return processes.filter((process) => process.mode !== mode).length
  }

  async list(): Promise<ProcessList> {
    const [reply, data] = await Promise.all([
      runScript(this.#redis, LIST, { base: PROCESSES_BASE, silentMs: SILENT_MS }),
      readDataFormat(this.#redis),
    ])
    const [at, ...found] = (reply as unknown[]).map(String)
    const processes: ListedProcess[] = []
    for (let i = 0; i < found.length; i += 2) {
      const [report] = ifReadable(() => parseStored(found[i] ?? '', processRecordsKey()))
      if (report)
        processes.push({ ...(report as unknown as ListedProcess), lastSeenAt: Number(found[i + 1]) })
    }
    const order = ({ role, startedAt, id }: ProcessReport) => `${role} ${startedAt} ${id}`
    return {
      at: Number(at),
      processes: processes.sort((a, b) => (order(a) < order(b) ? -1 : 1)),
      data,
    }
  }
}
