/**
 * Names of members in Redis for scripts: `LANE.slice` becomes 's' when a script is loaded. Names of records' members
 * come from their tables of fields. The names in hashes that only scripts write are listed here (keys.ts describes
 * these hashes), and the longer lists of members that a script reads at once.
 */
import { REDRIVE } from '../records/redrive-fields.ts'
import { SUBSCRIPTION } from '../records/subscription-fields.ts'
import { TOPIC as TOPIC_FIELDS } from '../records/topic-fields.ts'
import { NUMBER } from './lua-numbers.ts'

type Names = Record<string, string>

/** Hash of a lane. */
const LANE = {
  slice: 's',
  /** Own, or ''. */
  rate: 'r',
  maxInFlight: 'c',
  paused: 'p',
  deleted: 'g',
  hasDlq: 'q',
  /** Rates of message groups (group-rate.lua). Absent: there is no throttle of groups. */
  groupRates: 'gr',
  /** The throttle's theoretical arrival time, ms. */
  tat: 'x',
  /** Number of claims, modulo RETRY_EVERY. It decides when a retry is claimed. */
  claimsModulo: 'k',
  lastError: 'e',
  lastStatusCode: 'h',
  /** When that was, ms. */
  failedAt: 'ea',
  /** Last success, ms. */
  succeededAt: 'eo',
  /** The counts of recent attempts (lane-seen.lua). */
  seen: 'en',
  /** How many attempts have failed since the last success. Absent: none. */
  failedInARow: 'ec',
  /** When the first attempt of these failures failed, ms. */
  failingSince: 'es',
  /** When the subscription got its present endpoint, ms. */
  movedAt: 'em',
  /** The least time for which deliveries are kept, in seconds. */
  floor: 'l',
  purgedAt: 'u',
  /** Until when the lane shows that its dead-letter queue is missing. */
  dlqMissingUntil: 'dm',
  /** Until when the lane shows that it has messages whose key is missing. */
  lockedUntil: 'dk',
  proven: 'a',
  /** FIFO: '1', or '2' if several deliveries of a group may be sent at once. */
  fifo: 'f',
  /** FIFO: number of deliveries behind the heads of their groups. */
  behind: 'b',
  /** Retry mode and circuit breaker. The following members belong to it. */
  mode: 'm',
  quota: 'mq',
  paceNext: 'mn',
  adaptiveRate: 'mf',
  openUntil: 'mu',
  failures: 'mc',
  lastMax: 'ml',
  slowedAt: 'mt',
  measured: 'mr',
  bucket: 'mb',
  requests: 'mi',
  closedAt: 'mz',
  /** Name of the credential that blocks the lane (lane-blocked.lua); absent: none does. */
  blockedBy: 'mx',
} satisfies Names

/** Hash of a topic in its home shard. */
const TOPIC = {
  record: 'record',
  uid: 'uid',
  version: 'v',
  rate: 'rate',
  retention: 'ret',
  overrides: 'ovr',
  revision: 'rev',
  slices: 'slices',
  free: 'free',
  deleted: 'deleted',
  /** Seconds and bytes of the ring of messages, then days and bytes of the archive, or ''. */
  kept: 'kept',
  /** Revision of the catalogue of event types. */
  types: 'types',
} satisfies Names

/** Hash of notes about a topic's archive. */
const ARCHIVE = {
  /** When it began, ms. */
  since: 's',
  /** The score up to which blocks have the messages of the ring. */
  cursor: 'c',
  /** The last score of the block that is being written. Absent: none is. */
  open: 'w',
  messages: 'm',
  bytes: 'b',
  /** Messages that the ring has lost before a block had them, or whose texts were missing. */
  dropped: 'x',
} satisfies Names

/** Hash of notes about a topic's ring of messages. */
const KEPT = {
  /** The highest score. */
  last: 'l',
  /** When the newest message was kept that the ring lost because it was full, ms. */
  fullUntil: 'f',
  /** Messages of all jobs that were ever kept whole, less one for each job, as each has one place in the ring. */
  beyond: 'b',
} satisfies Names

/** The record of a dispatch job in a ring: BullMQ's hash, and what the ring adds to it. */
const KEPT_JOB = {
  /** When it was added, ms. */
  addedAt: 'timestamp',
  starts: 'ats',
  data: 'data',
  /** The ids of its messages in order, 16 bytes each. */
  ids: 'ft:ids',
  /** KEPT.beyond before this job was kept. */
  beyond: 'ft:beyond',
} satisfies Names

/** Hash of a slice. Counts by status stand under COUNT and the status. */
const SLICE = {
  arn: 'arn',
  topic: 'topic',
  version: 'v',
  rate: 'rate',
  retention: 'ret',
  overrides: 'ovr',
  revision: 'rev',
  count: 'n:',
  /** How many subscriptions it has lost. */
  departures: 'departures',
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
  /** '1' while a standard queue has messages with a group. */
  grouped: 'gr',
  /** ARN of the topic that made the queue for its dead letters. */
  topic: 'of',
} satisfies Names

/** Hash of a queue's item. */
const ITEM = {
  payload: 'p',
  sentAt: 's',
  receiveCount: 'c',
  firstReceivedAt: 'f',
  /** Digests of its handles' secrets, newest first. */
  digests: 'h',
  receivedAt: 't',
  source: 'x',
  /** Number of receives before a redrive policy brought it here. */
  countBefore: 'b',
  idGiven: 'i',
  /** '1': the message may be received in spite of the redrive policy. */
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
  /** Code of the last attempt's failure, or ''. */
  lastError: 'l',
} satisfies Names

/**
 * The values of one item in the arguments of a script, in this order: queue-items.ts writes them by these names.
 * queue-store.lua reads them as `ARGV[at + VALUE.payload]`. An absent value is ''.
 */
export const ITEM_VALUES = [
  'id',
  'payload',
  /** '1': the sender gave the id. */
  'idGiven',
  /** In ms; '': the queue's own. */
  'delay',
  /** '': now. */
  'sentAt',
  /** When retention begins. '': when the item was sent. */
  'keptFrom',
  'receiveCount',
  'firstReceivedAt',
  /** ARN of the queue that the item comes from. */
  'source',
  // Six values of a dead letter.
  'reason',
  'statusCode',
  'subscription',
  'deadAt',
  'message',
  /** Code of the last attempt's failure. */
  'lastError',
  'group',
  /** '': the item's id. */
  'deduplicationId',
  /** '1': earlier items may have the deduplication id. 'b': likewise, but it is made from the body and not stored. */
  'deduplication',
] as const

/** Position of each value of an item, from 1, and their number. */
const VALUE: Record<string, number> = {
  ...Object.fromEntries(ITEM_VALUES.map((name, i) => [name, i + 1])),
  size: ITEM_VALUES.length,
}

/** Hash of a redrive task: the fields of its record, and its progress. */
const TASK = {
  ...REDRIVE.storedNames,
  uid: 'uid',
  /** ARN of the topic of a resend. */
  topic: 'topic',
  /** '1': a resend that goes on with new messages. */
  follows: 'follows',
  /** A resend waits for messages that a FIFO log has had since before this time, ms; '' if for none. */
  untilKept: 'untilKept',
  /** When the archive began that a resend reads, ms; '' if there was none. */
  archive: 'archive',
  isEdited: 'edited',
  newest: 'newest',
  score: 'score',
  last: 'last',
  done: 'done',
  fence: 'fence',
  batch: 'batch',
  items: 'items',
  next: 'next',
  canaryAt: 'canaryAt',
  isJudged: 'judged',
} satisfies Names

/** Hash of a bulk task. */
const BULK = {
  record: 'r',
  status: 's',
  total: 't',
  done: 'd',
  failed: 'x',
  fence: 'f',
  before: 'o',
  startedAt: 'b',
  endedAt: 'e',
  undoneBy: 'u',
  planner: 'p',
} satisfies Names

/** Hash of a stored message. */
const BODY = { json: 'b', references: 'n', topic: 't', group: 'g' } satisfies Names

/** Hash of a job's checkpoint. `leasedAt`: epoch ms at which a batch was parked with entries in flight. */
const CHECKPOINT = { fence: 'f', parked: 'p', leasedAt: 'l' } satisfies Names

/** Hash of the latest batch that a redrive has parked in a shard. */
const REDRIVEN = { fence: 'f', batch: 'b' } satisfies Names

/** Hash of how the deliveries of a redrive ended in a shard. */
const ENDS = { delivered: 'd', dead: 'q', discarded: 'x' } satisfies Names

/** Hash of the log of a FIFO topic or of an isolated group. */
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

/** Members of a quarantine entry's hash that scripts write. */
const ENTRY = { at: 'at', bytes: 'bytes' } satisfies Names

/** Members of the hash of a broken credential. */
const CREDENTIAL = { since: 's', probeAt: 'p', detail: 'd' } satisfies Names

/** Members of the hash of a dispatch job, which is BullMQ's. */
const JOB = { starts: 'ats', addedAt: 'timestamp', parts: 'parts' } satisfies Names

const LUA_NAMES: Record<string, Names> = {
  LANE,
  TOPIC,
  ARCHIVE,
  KEPT,
  KEPT_JOB,
  SLICE,
  QUEUE,
  ITEM,
  TASK,
  BULK,
  BODY,
  CHECKPOINT,
  REDRIVEN,
  ENDS,
  LOG,
  ENTRY,
  CREDENTIAL,
  JOB,
  // Records that are JSON.
  SUBSCRIPTION: SUBSCRIPTION.storedNames,
  TOPIC_RECORD: TOPIC_FIELDS.storedNames,
}

const LUA_NUMBERS: Record<string, Record<string, number>> = { NUMBER, VALUE }

/** Replacements for one read: each member by its position in the reply, and `all` by the members' names. */
function readOf(names: Names, text: string): Record<string, string> {
  const members = text.split(' ')
  const stored = members.map((member) => {
    const name = names[member]
    if (name === undefined) throw new Error(`there is no member ${member} to read`)
    return quoted(name)
  })
  return { ...Object.fromEntries(members.map((member, i) => [member, `${i + 1}`])), all: stored.join(', ') }
}

const LANE_SETTINGS = 'slice rate paused deleted tat fifo mode proven groupRates'

/**
 * The members that scripts read by one HMGET, if they are many. `HMGET key LANE_READ.all` reads them, and
 * `h[LANE_READ.rate]` is a value of the reply.
 */
const LUA_READS: Record<string, Record<string, string>> = {
  LANE_READ: readOf(LANE, LANE_SETTINGS),
  /** Begins as LANE_READ, so its positions hold for both. */
  CLAIM_READ: readOf(LANE, `${LANE_SETTINGS} claimsModulo maxInFlight hasDlq`),
  PACE_READ: readOf(
    LANE,
    'mode quota adaptiveRate openUntil failures lastMax slowedAt measured bucket requests closedAt',
  ),
  QUEUE_READ: readOf(
    QUEUE,
    'uid visibility retention delay maxReceiveCount target clockSeen clockOffset byContent groupScope forgotten topic grouped',
  ),
  TASK_READ: readOf(
    TASK,
    'status fence batch items score last done newest maxMessagesPerSecond next canary isJudged moved canaryAt topic uid archive',
  ),
}

const TABLES = [...Object.keys(LUA_NUMBERS), ...Object.keys(LUA_NAMES), ...Object.keys(LUA_READS)]
const NAME = new RegExp(`\\b(${TABLES.join('|')})\\.(\\w+)`, 'g')

/** Replaces the names in a script by the texts that Redis stores for them, and shared numbers by their values. */
export function withNames(script: string, lua: string): string {
  return lua.replaceAll(NAME, (name, table: string, member: string) => {
    const stored = LUA_NAMES[table]?.[member]
    const replacement =
      stored === undefined ? (LUA_NUMBERS[table]?.[member] ?? LUA_READS[table]?.[member]) : quoted(stored)
    if (replacement === undefined) throw new Error(`${script}: there is no ${name}`)
    return String(replacement)
  })
}

function quoted(text: string): string {
  return `'${text}'`
}
