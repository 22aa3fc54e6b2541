/**
 * Reads the logs of FIFO topics. A take claims a log for one reader. The reader moves its messages, in order, into the
 * lanes of the matching subscriptions.
 *
 * published ──▶ due ──take──▶ claimed ──move──▶ claimed … ──the log is empty──▶ not due
 *               ▲                │
 *               └─ lease ended ──┘
 *
 * A move is one script, so a message is never lost between its log and its lanes. The script gets the fence of the
 * reader. It refuses the move if another reader has claimed the log since. The lease of a dead reader ends after 3 s.
 *
 * If readers die again and again while they handle a message, the message is isolated. It moves to a separate log,
 * together with all later messages of its group (fifo/lua/include/fifo-isolation.lua). That log is claimed and read
 * like the log of the topic. A message whose key is missing waits in such a log too.
 */
import type { Redis } from 'ioredis'
import { shardBase } from '../keys/shards.ts'
import { hintDue } from '../lanes/busy-lanes.ts'
import { fifoMark } from '../lanes/park.ts'
import type { LogClaim } from '../lanes/records/lane-records.ts'
import { readTime } from '../lanes/records/lane-replies.ts'
import { readScript, runScript, type ScriptValue } from '../redis/scripts.ts'

const MOVE = readScript('move-log-1')

/**
 * Messages that one script reads from a FIFO log. Past it: the next move reads on. One script must not block Redis for
 * too long.
 */
export const LOG_READ_MAX = 100
/** Bytes that one script reads from a FIFO log. Past it: the next move reads on. */
const READ_BYTES_MAX = 1_048_576

export interface LogEntry {
  /** The message id, 16 bytes. */
  id: Buffer
  /** JSON of the message. null: the body is gone. */
  body: Buffer | null
}

export interface LogMove {
  subscriptions: { id: string; sendsFollowers: boolean }[]
  /** The messages to move: the first of those that were read. `to`: positions in `subscriptions` of the recipients. */
  messages: { id: Buffer; to: number[]; isExpired?: boolean }[]
}

/** A message that is isolated from now on, because readers died at it. */
interface IsolatedEntry extends LogEntry {
  /** How many readers have died while they handled it. */
  failedStarts: number
  delayMs: number
}

/** `stale`: another reader has the log. `gone`: the topic is deleted, and takes discard its log. */
export type LogMoved =
  | { kind: 'stale' | 'gone' }
  /** The log's next messages. If there are none, the log is no longer claimed. */
  | {
      kind: 'moved'
      entries: LogEntry[]
      nextDueAt: number | null
      /** How many readers have died at the first entry. Absent: none. */
      failedStarts?: number
      /** If an isolated group must wait, nothing is read and the log is no longer claimed. */
      isolated?: IsolatedEntry
    }

type Ending = 'done' | 'failed' | 'locked'

/** Sent in place of the number of lanes. The script then counts the message as expired. */
const EXPIRED = -1
const NOTHING: LogMove = { subscriptions: [], messages: [] }

export class FifoReading {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Reads the log's first messages. */
  read(shard: number, claim: LogClaim): Promise<LogMoved> {
    return this.move(shard, claim, NOTHING)
  }

  /** Ends the lease, so that another reader may continue at once. */
  async letGo(shard: number, claim: LogClaim): Promise<void> {
    await this.#move(shard, claim, NOTHING, 'done')
  }

  /**
   * Called if the reader fails but its process lives. The failure is not counted against any message. Another reader
   * continues when the lease ends.
   */
  async release(shard: number, claim: LogClaim): Promise<void> {
    await this.#move(shard, claim, NOTHING, 'failed')
  }

  /**
   * Makes the groups of these messages wait, because the key of the first one is missing. They are tried again in a
   * minute. Reads the messages of other groups. `ids`: messages that were read and whose key is missing.
   */
  postpone(shard: number, claim: LogClaim, ids: Buffer[]): Promise<LogMoved> {
    return this.#move(shard, claim, NOTHING, 'locked', ids)
  }

  /**
   * Moves the messages and reads the next ones. A call may be repeated if no other move was made in between. Callers
   * pass at most 500 lanes.
   */
  move(shard: number, claim: LogClaim, move: LogMove): Promise<LogMoved> {
    return this.#move(shard, claim, move, '')
  }

  async #move(
    shard: number,
    { uid, topicArn, group = '', fence }: LogClaim,
    move: LogMove,
    ending: Ending | '',
    lockedIds: Buffer[] = [],
  ): Promise<LogMoved> {
    const reply = (await runScript(this.#redis, MOVE, {
      base: shardBase(shard),
      shard,
      uid,
      arn: topicArn,
      group,
      fence,
      messagesMax: LOG_READ_MAX,
      bytesMax: READ_BYTES_MAX,
      ending,
      values: [...packMove(move), ...lockedIds],
    })) as MoveReply
    if (Buffer.isBuffer(reply)) return { kind: String(reply) as 'stale' | 'gone' }
    const [due, woke, failedStarts, isolatedId, failed, delayMs, body, ...entries] = reply
    const nextDueAt = readTime(due)
    hintDue(this.#redis, shard, nextDueAt, woke)
    const moved = { kind: 'moved', entries: readEntries(entries), nextDueAt, failedStarts } as const
    if (isolatedId.length === 0) return moved
    return { ...moved, isolated: { id: isolatedId, body, failedStarts: failed, delayMs } }
  }
}

function packMove({ subscriptions, messages }: LogMove): ScriptValue[] {
  const lanes = subscriptions.flatMap(({ id, sendsFollowers }) => [id, fifoMark(sendsFollowers)])
  const values: ScriptValue[] = [subscriptions.length, ...lanes, messages.length]
  for (const { id, to, isExpired } of messages) {
    if (isExpired) values.push(id, EXPIRED)
    else values.push(id, to.length, ...to.map((position) => position + 1))
  }
  return values
}

/** 'stale', 'gone', or the list that the script's head describes. */
type MoveReply =
  | Buffer
  | [
      due: Buffer,
      woke: number,
      failedStarts: number,
      isolatedId: Buffer,
      failed: number,
      delayMs: number,
      body: Buffer | null,
      ...entries: (Buffer | null)[],
    ]

function readEntries(values: (Buffer | null)[]): LogEntry[] {
  const entries: LogEntry[] = []
  for (let i = 0; i + 1 < values.length; i += 2) {
    const [entry, body] = values.slice(i, i + 2) as [Buffer, Buffer | null]
    entries.push({ id: entry.subarray(0, 16), body })
  }
  return entries
}
