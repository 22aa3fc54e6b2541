/**
 * A model of a FIFO topic's logs in memory. It has the topic's own log, and one for each group that was isolated
 * because readers died at its first message. The model test makes the same reads here and on a real Redis and compares
 * them.
 */
import { NUMBER } from '../scripts/lua-numbers.ts'
import { LOG_READ_MAX } from './fifo-reading.ts'

const { ISOLATED_FROM, ISOLATION_MS_MAX, ISOLATION_MS_MIN, WINDOWS_MAX } = NUMBER

interface LoggedMessage {
  /** Hex. */
  id: string
  group: string
}

interface LogModel {
  /** null: the topic's own log. */
  group: string | null
  entries: LoggedMessage[]
  fence: number
  /** Fence of the latest reader that is known to have ended. */
  ended: number
  /** Number of messages that were moved one by one since a worker died while it read the log. */
  passed: number
  underWay: { id: string; fence: number } | null
  /** Number of readers that died while they handled the first message. */
  failed: number
}

export interface ReadModel {
  entries: string[]
  failed: number
  isolated: { id: string; failed: number; delayMs: number } | null
}

export class LogsModel {
  readonly own = emptyLog(null)
  /** Isolated group → its log. */
  readonly isolated = new Map<string, LogModel>()

  get all(): LogModel[] {
    return [this.own, ...this.isolated.values()]
  }

  get messages(): LoggedMessage[] {
    return this.all.flatMap(({ entries }) => entries)
  }

  find(group: string | undefined): LogModel | undefined {
    return group === undefined ? this.own : this.isolated.get(group)
  }

  /** A read by the present reader, after it has moved the first `moved` messages into lanes. */
  read(log: LogModel, moved = 0): ReadModel {
    log.entries.splice(0, moved)
    if (moved > 0) noteMoved(log, moved)
    const isolated = this.#judge(log)
    const entries = isolated && log.group !== null ? [] : this.#first(log).map(({ id }) => id)
    const result = { entries: isIsolating(log) ? entries.slice(0, 1) : entries, failed: log.failed, isolated }
    const [first] = result.entries
    if (first !== undefined) {
      if (isIsolating(log)) log.underWay = { id: first, fence: log.fence }
    } else if (log.entries.length === 0 || log.group === null) this.#end(log)
    return result
  }

  #judge(log: LogModel): ReadModel['isolated'] {
    const { underWay, entries } = log
    if (!underWay || underWay.fence === log.fence) return null
    log.underWay = null
    const [first] = entries
    if (first?.id !== underWay.id) return null
    log.failed++
    const { failed } = log
    if (log.group === null) {
      if (failed < ISOLATED_FROM) return null
      entries.shift()
      this.isolated.set(first.group, { ...emptyLog(first.group), entries: [first], failed })
      log.failed = 0
    }
    const delayMs = Math.min(ISOLATION_MS_MAX, ISOLATION_MS_MIN * 2 ** Math.max(0, failed - ISOLATED_FROM))
    return { id: first.id, failed, delayMs }
  }

  #first(log: LogModel): LoggedMessage[] {
    if (log.group !== null) return log.entries.slice(0, LOG_READ_MAX)
    for (let n = 0; n < WINDOWS_MAX; n++) {
      const window = log.entries.splice(0, LOG_READ_MAX)
      const kept = window.filter((entry) => !this.isolated.has(entry.group))
      for (const entry of window) this.isolated.get(entry.group)?.entries.push(entry)
      log.entries.unshift(...kept)
      if (kept.length > 0 || window.length === 0) return kept
    }
    return []
  }

  #end(log: LogModel): void {
    log.underWay = null
    if (log.group !== null) {
      this.isolated.delete(log.group)
      return
    }
    log.ended = log.fence
    log.passed = 0
  }
}

function emptyLog(group: string | null): LogModel {
  return { group, entries: [], fence: 0, ended: 0, passed: 0, underWay: null, failed: 0 }
}

function isIsolating({ group, fence, ended }: LogModel): boolean {
  return group !== null || fence - ended > 1
}

function noteMoved(log: LogModel, moved: number): void {
  log.underWay = null
  log.failed = 0
  if (log.group !== null || !isIsolating(log)) return
  log.passed += moved
  if (log.passed < LOG_READ_MAX) return
  log.ended = log.fence - 1
  log.passed = 0
}
