/**
 * Names of members in Redis as scripts write them: `LANE.slice` in a script is 's' when it is loaded. Those of records
 * come from the tables of their fields; those of hashes that scripts alone write stand here (keys.ts says what each
 * hash is for).
 */
import { REDRIVE } from '../redrives/redrive-fields.ts'
import { SUBSCRIPTION } from '../subscriptions/subscription-fields.ts'
import { TOPIC as TOPIC_FIELDS } from '../topics/topic-fields.ts'

type Names = Record<string, string>

/** Hash of a lane. */
const LANE = {
  slice: 's',
  /** Own, or ''. */
  throttle: 'r',
  maxInFlight: 'c',
  paused: 'p',
  gone: 'g',
  hasDlq: 'q',
  /** Throttle's theoretical arrival time, ms. */
  arrival: 'x',
  /** Claims so far, modulo the turn of retries. */
  turn: 'k',
  lastError: 'e',
  lastStatusCode: 'h',
  /** When that was, ms. */
  failedAt: 'ea',
  /** Last success, ms. */
  succeededAt: 'eo',
  /** Attempts that ended lately (lane-seen.lua). */
  seen: 'en',
  /** When it got the endpoint that it has, ms. */
  movedAt: 'em',
  /** Seconds that it keeps deliveries at least. */
  floor: 'l',
  purgedAt: 'u',
  /** Until when it shows that its dead-letter queue is missing. */
  queueMissingUntil: 'dm',
  proven: 'a',
  /** FIFO: '1', or '2' where several of a group may be sent at once. */
  fifo: 'f',
  /** FIFO: deliveries behind the heads of their groups. */
  behind: 'b',
  /** Retry mode and circuit breaker; those that follow belong to it. */
  mode: 'm',
  quota: 'mq',
  paceNext: 'mn',
  rate: 'mf',
  openUntil: 'mu',
  failures: 'mc',
  lastMax: 'ml',
  slowedAt: 'mt',
  measured: 'mr',
  bucket: 'mb',
  requests: 'mi',
  closedAt: 'mz',
} satisfies Names

/** Hash of a topic in its home shard. */
const TOPIC = {
  record: 'record',
  uid: 'uid',
  version: 'v',
  throttle: 'rate',
  retention: 'ret',
  overrides: 'ovr',
  revision: 'rev',
  slices: 'slices',
  free: 'free',
  deleted: 'deleted',
} satisfies Names

/** Hash of a slice. Counts by status stand under COUNT and the status. */
const SLICE = {
  arn: 'arn',
  topic: 'topic',
  version: 'v',
  throttle: 'rate',
  retention: 'ret',
  overrides: 'ovr',
  revision: 'rev',
  count: 'n:',
} satisfies Names

/** Hash of a queue. */
const QUEUE = {
  record: 'record',
  uid: 'uid',
  visibility: 'v',
  retention: 'r',
  delay: 'd',
  maxReceiveCount: 'm',
  target: 't',
  byContent: 'cb',
  groupScope: 'gs',
  clockSeen: 'seen',
  clockOffset: 'off',
  sequence: 'seq',
  purgedAt: 'purged',
  forgotten: 'forgot',
  /** ARN of the topic that made it for its dead letters. */
  topic: 'of',
} satisfies Names

/** Hash of a queue's item. */
const ITEM = {
  payload: 'p',
  sentAt: 's',
  receiveCount: 'c',
  firstReceivedAt: 'f',
  /** Of its handles' secrets, newest first. */
  digests: 'h',
  receivedAt: 't',
  source: 'x',
  /** Receives before it came here by a redrive policy. */
  countBefore: 'b',
  idGiven: 'i',
  /** '1': receive in spite of the redrive policy. */
  again: 'n',
  group: 'g',
  deduplicationId: 'd',
  sequence: 'o',
  /** When it was dead-lettered or moved here. */
  deadAt: 'e',
  reason: 'r',
  statusCode: 'k',
  subscription: 'u',
  message: 'm',
} satisfies Names

/** Hash of a redrive task: the fields of its record, and how far it is. */
const TASK = {
  ...REDRIVE.storedNames,
  uid: 'uid',
  newest: 'newest',
  score: 'score',
  last: 'last',
  done: 'done',
  fence: 'fence',
  batch: 'batch',
  items: 'items',
  next: 'next',
} satisfies Names

/** Hash of a stored message. */
const BODY = { json: 'b', references: 'n', topic: 't' } satisfies Names

/** Hash of a job's checkpoint. */
const CHECKPOINT = { fence: 'f', parked: 'p' } satisfies Names

/** Hash of what a redrive has parked in a shard. */
const REDRIVEN = { fence: 'f', batch: 'b' } satisfies Names

/** Hash of a FIFO topic's log, or of an isolated group's. */
const LOG = {
  arn: 'a',
  sequence: 'n',
  fence: 'f',
  ended: 'e',
  groupFence: 'g',
  passed: 'k',
  underWay: 'u',
  reader: 'v',
  failed: 'x',
} satisfies Names

/** Hash of an entry of the quarantine, as far as scripts write it. */
const ENTRY = { at: 'at', bytes: 'bytes' } satisfies Names

/** Hash of a dispatch job, which is BullMQ's. */
const JOB = { starts: 'ats', addedAt: 'timestamp', parts: 'parts' } satisfies Names

const LUA_NAMES: Record<string, Names> = {
  LANE,
  TOPIC,
  SLICE,
  QUEUE,
  ITEM,
  TASK,
  BODY,
  CHECKPOINT,
  REDRIVEN,
  LOG,
  ENTRY,
  JOB,
  // Records that are JSON.
  SUBSCRIPTION: SUBSCRIPTION.storedNames,
  TOPIC_RECORD: TOPIC_FIELDS.storedNames,
}

const NAME = new RegExp(`\\b(${Object.keys(LUA_NAMES).join('|')})\\.(\\w+)`, 'g')

/** Lua with names from the tables as the texts that stand in Redis. */
export function withNames(script: string, lua: string): string {
  return lua.replaceAll(NAME, (name, table: string, member: string) => {
    const stored = LUA_NAMES[table]?.[member]
    if (stored === undefined) throw new Error(`${script}: there is no ${name}`)
    return `'${stored}'`
  })
}
