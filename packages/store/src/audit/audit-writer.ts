/**
 * Writes audit lines to the audit trail in Redis, without slowing the audited call. Lines wait in the process for a
 * moment, and one script appends all of them. While Redis refuses or is silent, they wait longer. If too many wait, the
 * oldest are dropped, and the next line that is written says how many are missing before it. A clean stop writes the
 * rest. A crash loses the waiting lines, which the process's log has already.
 *
 * nothing ─add→ waiting (AUDIT_GATHER_MS) ─timer→ writing ─written→ nothing
 * writing ─refused, or no answer→ waiting (WRITE_RETRY_MS)
 */
import { randomUUID } from 'node:crypto'
import type { AuditLine } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { AUDIT_BASE } from '../keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const APPEND = readScript('append-audit-1')

const AUDIT_GATHER_MS = 50
const WRITE_RETRY_MS = 2_000
/**
 * A line takes about 300 bytes, at most about 3 KB.
 * @limit memory (Redis) Lines that the audit trail keeps. Past it: the oldest are removed.
 */
const AUDIT_LINES_MAX = 10_000
/**
 * Lines of callers without a key have a separate stream, so that strangers cannot displace the lines of keys.
 * @limit memory (Redis) Lines of refused callers without a key that the audit trail keeps. Past it: the oldest are
 * removed.
 */
const STRANGER_LINES_MAX = 1_000
/** @limit Audit lines that a process keeps until Redis takes them. Past it: the oldest are dropped and counted. */
const AUDIT_WAITING_MAX = 2_000
/** @limit Audit lines of one write. Past it: a further write follows. */
const AUDIT_PER_WRITE_MAX = 100
/** @limit Names in an audit line. Past it: the others are left out of the audit trail. */
const AUDIT_NAMES_MAX = 8
/** @limit Length of a text in an audit line. Past it: the audit trail has its beginning. */
const AUDIT_TEXT_CHARS_MAX = 300

interface AuditWriterOptions {
  redis: Redis
  /** Epoch ms. */
  now: () => number
  /** Called after each write. `error`: why it failed. */
  onWrite: (state: 'up' | 'down', error?: unknown) => void
}

interface Waiting {
  stranger: boolean
  line: AuditLine
  at: number
}

/** A line as it is stored. */
export interface StoredAuditLine extends AuditLine {
  /** Epoch ms. */
  at: number
  /** How many lines before this one its process has dropped. */
  missed?: number
}

export class AuditWriter {
  readonly #options: AuditWriterOptions
  readonly #writer = randomUUID()
  readonly #waiting: Waiting[] = []
  /** Lines that are being written. They stay until Redis has certainly stored them. */
  #batch: { stranger: boolean; line: string }[] = []
  #batches = 0
  #missed = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #isStopped = false

  constructor(options: AuditWriterOptions) {
    this.#options = options
  }

  /** `stranger`: a refused caller without a key. */
  add(line: AuditLine, { stranger = false }: { stranger?: boolean } = {}): void {
    this.#waiting.push({ stranger, line, at: this.#options.now() })
    if (this.#waiting.length > AUDIT_WAITING_MAX) {
      this.#waiting.shift()
      this.#missed++
    }
    this.#writeIn(AUDIT_GATHER_MS)
  }

  /** Writes all waiting lines. It tries once. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#writing
    await this.#write()
  }

  #writeIn(ms: number): void {
    if (this.#isStopped || this.#writing) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#writing = this.#write().then((isWritten) => {
        this.#writing = undefined
        if (this.#batch.length + this.#waiting.length > 0)
          this.#writeIn(isWritten ? AUDIT_GATHER_MS : WRITE_RETRY_MS)
      })
    }, ms)
  }

  /** Returns false if Redis has not taken everything. */
  async #write(): Promise<boolean> {
    try {
      while (this.#fillBatch()) {
        await this.#append()
        this.#batch = []
        this.#options.onWrite('up')
      }
      return true
    } catch (error) {
      this.#options.onWrite('down', error)
      return false
    }
  }

  /** A batch that may have been written keeps its number, and nothing more is added to it. */
  #fillBatch(): boolean {
    if (this.#batch.length > 0) return true
    this.#batch = this.#waiting.splice(0, AUDIT_PER_WRITE_MAX).map(({ stranger, line, at }) => {
      const stored: StoredAuditLine = {
        at,
        ...bounded(line),
        ...(this.#missed > 0 && { missed: this.#missed }),
      }
      this.#missed = 0
      return { stranger, line: JSON.stringify(stored) }
    })
    if (this.#batch.length > 0) this.#batches++
    return this.#batch.length > 0
  }

  async #append(): Promise<void> {
    await runScript(this.#options.redis, APPEND, {
      base: AUDIT_BASE,
      writer: this.#writer,
      batch: this.#batches,
      linesMax: AUDIT_LINES_MAX,
      strangersMax: STRANGER_LINES_MAX,
      lines: this.#batch,
    })
  }
}

/** Callers choose the names in paths. */
function bounded(line: AuditLine): AuditLine {
  const names = Object.entries(line.resource).slice(0, AUDIT_NAMES_MAX)
  const cut = (text: string) => text.slice(0, AUDIT_TEXT_CHARS_MAX)
  return {
    ...line,
    resource: Object.fromEntries(names.map(([name, value]) => [cut(name), cut(String(value))])),
    requestId: cut(line.requestId),
  }
}
