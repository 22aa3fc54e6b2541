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
import { AUDIT_BASE } from '../keys/keys.ts'
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
 * Keys with prefixes, and people who follow links, cannot displace the changes of keys for all names.
 * @limit memory (Redis) Lines of changes by keys with prefixes and by links that the audit trail keeps. Past it: the
 * oldest are removed.
 */
const BOUND_LINES_MAX = 5_000
/**
 * @limit memory (Redis) Lines of changes by portal sessions that the audit trail keeps. Past it: the oldest are
 * removed.
 */
const PORTAL_LINES_MAX = 5_000
/**
 * Refused changes have a separate stream, so that a key that may do nothing cannot displace the changes of others.
 * @limit memory (Redis) Lines of refused changes of keys that the audit trail keeps. Past it: the oldest are removed.
 */
const REFUSED_LINES_MAX = 2_000
/**
 * Lines of callers without a key have a separate stream, so that strangers cannot displace the lines of keys.
 * @limit memory (Redis) Lines of refused callers without a key that the audit trail keeps. Past it: the oldest are
 * removed.
 */
const STRANGER_LINES_MAX = 1_000
/** @limit Audit lines that a process keeps until Redis takes them. Past it: the oldest are dropped and counted. */
const AUDIT_WAITING_MAX = 2_000
/** Audit lines of one write. Past it: a further write follows. */
const AUDIT_PER_WRITE_MAX = 100
/**
 * @limit Refused changes of one API key that a process writes to the audit trail in a minute. Past it: further ones are
 * counted as missing.
 */
const REFUSED_PER_KEY_MAX = 60
const REFUSED_WINDOW_MS = 60_000

interface AuditWriterOptions {
  redis: Redis
  /** Epoch ms. */
  now: () => number
  /** Called after each write. `error`: why it failed. */
  onWrite: (state: 'up' | 'down', error?: unknown) => void
}

/**
 * `bound`: changes by keys with prefixes and by links. `portal`: by portal sessions. `lines`: all other changes that
 * were made. `refused`: refused changes of keys. `strangers`: refused callers without a key.
 */
export type AuditStream = 'lines' | 'bound' | 'portal' | 'refused' | 'strangers'

const LINES_MAX: Readonly<Record<AuditStream, number>> = {
  lines: AUDIT_LINES_MAX,
  bound: BOUND_LINES_MAX,
  portal: PORTAL_LINES_MAX,
  refused: REFUSED_LINES_MAX,
  strangers: STRANGER_LINES_MAX,
}

interface Waiting {
  stream: AuditStream
  line: AuditLine
  at: number
}

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
  #batch: { stream: AuditStream; linesMax: number; line: string }[] = []
  /** Refused changes of each key in this minute. */
  readonly #refused = { window: 0, counts: new Map<string, number>() }
  #batches = 0
  #missed = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #isStopped = false

  constructor(options: AuditWriterOptions) {
    this.#options = options
  }

  add(line: AuditLine, stream: AuditStream = 'lines'): void {
    const at = this.#options.now()
    if (stream === 'refused' && this.#countRefused(line.keyId, at) > REFUSED_PER_KEY_MAX) {
      this.#missed++
      return
    }
    this.#waiting.push({ stream, line, at })
    if (this.#waiting.length > AUDIT_WAITING_MAX) {
      this.#waiting.shift()
      this.#missed++
    }
    this.#writeIn(AUDIT_GATHER_MS)
  }

  #countRefused(keyId: string, at: number): number {
    const refused = this.#refused
    const window = Math.floor(at / REFUSED_WINDOW_MS)
    if (window !== refused.window) refused.counts.clear()
    refused.window = window
    const count = (refused.counts.get(keyId) ?? 0) + 1
    refused.counts.set(keyId, count)
    return count
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
    this.#batch = this.#waiting.splice(0, AUDIT_PER_WRITE_MAX).map(({ stream, line, at }) => {
      const stored: StoredAuditLine = {
        at,
        ...line,
        ...(this.#missed > 0 && { missed: this.#missed }),
      }
      this.#missed = 0
      return { stream, linesMax: LINES_MAX[stream], line: JSON.stringify(stored) }
    })
    if (this.#batch.length > 0) this.#batches++
    return this.#batch.length > 0
  }

  async #append(): Promise<void> {
    await runScript(this.#options.redis, APPEND, {
      base: AUDIT_BASE,
      writer: this.#writer,
      batch: this.#batches,
      lines: this.#batch,
    })
  }
}
