/**
 * The data of a stack whose time can be moved (FANTAIL_TIME_TRAVEL). It is a single Redis that was empty when the stack
 * began. It keeps an id for ever. Processes without the setting refuse such data, because its times are not real
 * times.
 */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import {
  API_KEYS_BASE,
  AUDIT_BASE,
  CREDENTIALS_BASE,
  MAIL_BASE,
  PROCESSES_BASE,
  QUARANTINE_BASE,
  TRAVEL_KEY,
} from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { UnusableDataError } from '../redis/unusable-data.ts'
import { NUMBER } from '../scripts/lua-numbers.ts'

const BEGIN = readScript('begin-travel-1')
const MOVE = readScript('move-time-1')
const READ = readScript('read-work-1')

const SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shardBase(shard))
/**
 * All prefixes whose scripts use the stack's time. Reports of processes are not among them, because they use real time.
 */
const MOVED = [...SHARDS, API_KEYS_BASE, AUDIT_BASE, CREDENTIALS_BASE, MAIL_BASE, QUARANTINE_BASE]

/** The error for a process that must not use this data, or not with this setting. */
export class TravelledDataError extends UnusableDataError {
  constructor(message: string) {
    super(message)
    this.name = 'TravelledDataError'
  }
}

interface TravelSettings {
  mode: 'local' | 'server'
  timeTravel: boolean
}

/** Called at the start of a process. Resolves with the stack's id if its time can be moved. */
export async function checkTravel(
  redis: Redis,
  { mode, timeTravel }: TravelSettings,
): Promise<string | undefined> {
  if (!timeTravel) {
    if ((await redis.exists(TRAVEL_KEY)) === 0) return undefined
    const use = mode === 'local' ? ' FANTAIL_TIME_TRAVEL=on uses it.' : ''
    throw new TravelledDataError(
      `the time of this Redis’s data was moved or may be moved, so ${mode} mode without time travel must not use it.${use}`,
    )
  }
  const begin = { travel: TRAVEL_KEY, id: randomUUID(), processes: PROCESSES_BASE }
  const id = String(await runScript(redis, BEGIN, begin))
  if (id === '') {
    throw new TravelledDataError(
      'FANTAIL_TIME_TRAVEL needs an empty Redis of its own, and this one has data of Fantail',
    )
  }
  return id
}

/** A lane, log or job that is due at a time. */
export interface DueWork {
  /** Epoch ms of the stack. */
  at: number
  what: string
}

export interface StoredWork {
  /** Epoch ms of the stack. */
  now: number
  offsetMs: number
  due: DueWork[]
  /** Work of sweeps, with the time from which they find it. They may find it up to a minute later. */
  swept: DueWork[]
  /** Name of each of BullMQ's queues, and its waiting and active jobs. */
  queues: { name: string; waiting: number; active: number }[]
}

type WorkReply = [now: Buffer, offset: Buffer, heads: Buffer[], queues: (Buffer | number)[], swept: Buffer[]]

/** `queues`: the full names of BullMQ's queues, prefix included. */
export async function readWork(redis: Redis, queues: readonly string[]): Promise<StoredWork> {
  const reply = await runScript(redis, READ, { travel: TRAVEL_KEY, names: [...SHARDS, ...queues] })
  const [now, offset, heads, jobs, sweeps] = reply as WorkReply
  const stack = { now: Number(String(now)), offsetMs: Number(String(offset)) }
  const found = pairsOf(heads).map(([member, at]) => dueWork(nameOf(String(member)), at))
  const swept = pairsOf(sweeps).map(([what, at]) => dueWork(String(what), at))
  const rows = rowsOf(jobs)
  const delayed = rows.flatMap(({ name, delayed }) => {
    const isMoved = delayed !== '' && name.includes('{dispatch-')
    const at = Math.ceil(Number(delayed) / NUMBER.DELAY_UNIT) + stack.offsetMs
    return isMoved ? [{ at, what: `delayed job of ${name}` }] : []
  })
  return { ...stack, due: [...found, ...delayed], swept, queues: rows }
}

/** Moves the time to `targetMs`, unless that time has passed. Returns the real time of the move, and the new offset. */
export async function moveTime(
  redis: Redis,
  targetMs: number,
): Promise<{ realMs: number; offsetMs: number }> {
  const reply = await runScript(redis, MOVE, { travel: TRAVEL_KEY, targetMs, bases: MOVED })
  const [realMs, offsetMs] = (reply as [Buffer, Buffer]).map((value) => Number(String(value))) as [
    number,
    number,
  ]
  return { realMs, offsetMs }
}

/** Reads by how many ms the stack's time is ahead. */
export async function readTravelOffset(redis: Redis): Promise<number> {
  return (await readWork(redis, [])).offsetMs
}

function dueWork(what: string, at: Buffer): DueWork {
  return { at: Number(String(at)), what }
}

function nameOf(member: string): string {
  const [kind, id] = member.split(':')
  if (kind === 'log') return `log ${id}`
  return kind === 'isolated' ? `isolated log ${id}` : `lane ${member}`
}

function pairsOf(values: Buffer[]): [Buffer, Buffer][] {
  return Array.from(
    { length: values.length / 2 },
    (_, i) => [values[2 * i], values[2 * i + 1]] as [Buffer, Buffer],
  )
}

function rowsOf(values: (Buffer | number)[]) {
  return Array.from({ length: values.length / 4 }, (_, i) => {
    const [name, waiting, active, delayed] = values.slice(4 * i, 4 * i + 4)
    return { name: String(name), waiting: Number(waiting), active: Number(active), delayed: String(delayed) }
  })
}
