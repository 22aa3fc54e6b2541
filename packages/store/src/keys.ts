/**
 * Every Redis key. `base` is a shard's prefix (shards.ts); scripts build the same names from it, so a change here is
 * a change in `lua/` too (keys.test.ts holds the two together). Binary ids stand as 16 raw bytes.
 *
 * BullMQ keeps its own keys under `ft:{bull…}`.
 */
import { shardBase, shardOf } from './shards.ts'

/** String, ms added to Redis TIME by every script of the shard; tests only. Lives until deleted. */
export const skewKey = (base: string) => `${base}skew`

// ---- topics and subscriptions: owned by topics.ts and subscriptions.ts, deleted with the topic

/** Hash: `record` (JSON TopicRecord), `rev` (unique id of the last change), `slices` (JSON: subscriptions per slice),
 *  `n:active|pending|paused` counts. Home shard of the topic. */
export const topicKey = (arn: string) => `${shardBase(shardOf(arn))}topic:${arn}`
/** Sorted set, all scores 0: topic ARNs of the shard, for listing. */
export const topicsKey = (base: string) => `${base}topics`
/** Sorted set, all scores 0: `<subscription id>|<slice id>|<slice shard>|<topic ARN>` in the home shard of the id. */
export const locationsKey = (base: string) => `${base}locations`
/** Hash in the slice's shard: `rev`, `topic` (JSON TopicRecord), `rate` (default throttle or ''), `ret` (seconds),
 *  `ovr` ('1' where subscription overrides are disabled). */
export const sliceKey = (base: string, sliceId: string) => `${base}slice:${sliceId}`
/** Hash in the slice's shard: subscription id → JSON SubscriptionRecord. */
export const subscriptionsKey = (base: string, sliceId: string) => `${base}subs:${sliceId}`

// ---- lanes: owned by lanes.ts; the lane hash is made with the subscription and removed when drained after it

/** Hash: `s` slice id, `r` own throttle or '', `c` maxInFlight, `p` '1' paused, `g` '1' gone, `q` '1' has a DLQ,
 *  `x` throttle's theoretical arrival time (ms, fractional), `k` claim counter, `e` last error, `h` last status code. */
export const laneKey = (base: string, subscriptionId: string) => `${base}lane:${subscriptionId}`
/** Sorted set by due ms: deliveries without an attempt. Member: 16 bytes message id (+ 2 bytes generation if redriven). */
export const freshKey = (base: string, subscriptionId: string) => `${base}fresh:${subscriptionId}`
/** Sorted set by due ms: deliveries with attempts behind them, and those marked dead. */
export const retryKey = (base: string, subscriptionId: string) => `${base}retry:${subscriptionId}`
/** Sorted set by lease (lease end in ms plus a fraction that makes it unique): deliveries in flight. */
export const leaseKey = (base: string, subscriptionId: string) => `${base}lease:${subscriptionId}`
/** Hash: delivery → packed retry state; only of deliveries that have one. */
export const stateKey = (base: string, subscriptionId: string) => `${base}state:${subscriptionId}`
/** Sorted set by ms: subscription id → when its lane next needs a take. Decides what runs when. */
export const dueKey = (base: string) => `${base}due`
/** Hash: `b` (JSON Message), `n` (deliveries of this shard that refer to it); gone when n reaches 0. */
export const messageKey = (base: string, messageIdBytes: Buffer) =>
  Buffer.concat([Buffer.from(`${base}msg:`), messageIdBytes])
/** Hash: counts by cause (`discarded:permanent`, `expired`, `deadLettered`, `orphaned`, …). For ever. */
export const countsKey = (base: string) => `${base}counts`
/** Hash: `f` fence, `<message index>.<slice id>` → bitmap of settled slots. Deleted by the job, else after a day. */
export const checkpointKey = (base: string, job: string) => `${base}ck:${job}`
/** List of JSON, at most 1,000: what was set aside because it could not be processed. */
export const asideKey = (base: string) => `${base}aside`

// ---- queues: owned by queues.ts, in the queue's home shard, deleted with the queue

/** Sorted set, all scores 0: queue ARNs of the shard. */
export const queuesKey = (base: string) => `${base}queues`
/** Hash: `record` (JSON QueueRecord) and counters. */
export const queueKey = (arn: string) => `${shardBase(shardOf(arn))}queue:${arn}`
/** What every other key of a queue begins with. */
export const queueBase = (arn: string) => `${shardBase(shardOf(arn))}q:${arn}:`

// ---- not in a shard

/** Hash: shard → earliest due ms, a hint written after parks; lost hints are covered by the sweep. */
export const BUSY_SHARDS = 'ft:{hints}:busy'
/** Stream of outcomes, one entry per message and slice, bounded by FANTAIL_LOG_MESSAGES. */
export const outcomeLogKey = (queueNumber: number) => `ft:{log${queueNumber}}:outcomes`
/** Pub/sub channels; a subscriber gets `<shard>:<due ms>`, a queue's ARN, a slice id or topic ARN. */
export const WAKE_LANES = 'ft:wake:lanes'
export const WAKE_QUEUES = 'ft:wake:queues'
export const WAKE_CHANGES = 'ft:wake:changes'
/** String: messageId of the first publish with this key, 24 h. `scope` is the topic ARN. */
export const idempotencyKey = (scope: string, key: string) =>
  `${shardBase(shardOf(scope))}idem:${scope}:${key}`
