/**
 * The open alarms, and the time up to which dead letters and entries of the quarantine were reported. An alarm is open
 * if notices have reported it, but not its end yet. Alarms and time are written after the notices of a round are
 * stored. A process that is killed in between leaves them as they were, so the next round repeats its notices, and
 * loses none.
 */
import type { Redis } from 'ioredis'
import { openAlarmsKey } from '../keys/keys.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'

/** After a day without rounds, nothing of what was reported before can still be known. */
const KEPT_MS = 86_400_000
/** Alarms that one command writes. Past it: a further command follows. */
const ALARMS_PER_COMMAND_MAX = 500
const REPORTED_UNTIL = 'reportedUntil'

/** The place of an alarm. Both are '' if it concerns the server. */
export interface AlarmPlace {
  host: string
  topicArn: string
}

/** Alarms by name: the type of the notice, a space, and the id of the subscription if it has one. */
export type NamedAlarm = readonly [name: string, place: AlarmPlace]

interface AlarmState {
  open: Map<string, AlarmPlace>
  /** Epoch ms. null: nothing was reported yet. */
  reportedUntil: number | null
}

interface AlarmChanges {
  began: NamedAlarm[]
  /** Names. */
  ended: string[]
  reportedUntil: number
}

export class OpenAlarms {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async read(): Promise<AlarmState> {
    const { [REPORTED_UNTIL]: reported, ...fields } = await this.#redis.hgetall(openAlarmsKey())
    const open = Object.entries(fields).map(([name, place]) => [name, unpack(place)] as const)
    return { open: new Map(open), reportedUntil: reported === undefined ? null : Number(reported) }
  }

  async write({ began, ended, reportedUntil }: AlarmChanges): Promise<void> {
    const key = openAlarmsKey()
    const commands = batch(this.#redis).hset(key, REPORTED_UNTIL, String(reportedUntil))
    for (const part of partsOf(began)) commands.hset(key, Object.fromEntries(part.map(packed)))
    for (const part of partsOf(ended)) commands.hdel(key, ...part)
    await replies(commands.pexpire(key, KEPT_MS))
  }
}

/** An ARN has no space. */
function packed([name, { host, topicArn }]: NamedAlarm): [string, string] {
  return [name, `${topicArn} ${host}`]
}

function unpack(place: string): AlarmPlace {
  const end = place.indexOf(' ')
  return { topicArn: place.slice(0, Math.max(0, end)), host: place.slice(end + 1) }
}

function partsOf<T>(list: T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / ALARMS_PER_COMMAND_MAX) }, (_, part) =>
    list.slice(part * ALARMS_PER_COMMAND_MAX, (part + 1) * ALARMS_PER_COMMAND_MAX),
  )
}
