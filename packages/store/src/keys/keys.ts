/**
 * The names of all Redis keys, with type, members and lifetime. `base` is the prefix of a shard (shards.ts). Scripts
 * build the same names from this prefix, so a change here needs a change in `lua/` too. Binary ids are 16 raw bytes. If
 * only scripts build a key, it has no function here, but a line comment. Tests take the names of such keys from the
 * test kit (redis-keys.ts).
 *
 * BullMQ keeps its own keys under `ft:{<queue>}:`, such as `ft:{dispatch-0}:` (`queuePrefix` in packages/jobs).
 */
import { shardBase, shardOf } from './shards.ts'
import { dispatchTag } from './slots.ts'

// `<base>skew`. String: ms that every script of the shard adds to Redis TIME. Only time travel and tests set it. Never
// deleted.
// `<base>ahead`. String: ms by which the shard's time is ahead of Redis's clock, since that clock was set back
// (catch-up). Never deleted.

// ---- topics and subscriptions: owned by topics.ts and subscriptions.ts, deleted with the topic

/**
 * Hash in the topic's home shard:
 * - `record` (JSON TopicRecord with its checksum), `v` (version of the record), `uid`
 * - `rate`, `ret`, `ovr`: the same as in a slice
 * - `rev`: unique id of the latest change of the topic or its subscriptions
 * - `slices`: JSON array with the number of subscriptions in each slice. Subscriptions that are being created or
 *   removed count too. All numbers are padded to the same width.
 * - `free`: number of the first slice that may have a free place
 * - `deleted`: number of subscriptions that were deleted so far
 * - `kept`: seconds and bytes of the topic's ring of messages, or ''. Behind them days and bytes of its archive, and
 *   `d` if that drops its oldest messages while memory is short.
 * - `types`: revision of the topic's catalogue of event types. Absent: the topic has had none.
 */
export const topicKey = (arn: string) => `${shardBase(shardOf(arn))}topic:${arn}`
/** Sorted set, all scores 0: topic ARNs of the shard, for listing. */
export const topicsKey = (base: string) => `${base}topics`
/** Sorted set, all scores 0: ARNs of the shard's topics with `notices` or `disableAfterDays`. Deleted with them. */
export const watchedTopicsKey = (base: string) => `${base}topics:watched`
/** Hash in the topic's home shard: SHA-1 of protocol and endpoint (20 bytes) → subscription id (16 bytes). */
export const endpointsKey = (base: string, topicUid: string) => `${base}endpoints:${topicUid}`
/** Hash in the topic's home shard: SHA-1 of a confirmation token (20 bytes), which begins with the topic's uid →
 *  subscription id (16 bytes). */
export const tokensKey = (base: string, topicUid: string) => `${base}tokens:${topicUid}`
/** Hash in the topic's home shard: name of an event type → JSON EventTypeRecord with its checksum. */
export const eventTypesKey = (base: string, topicUid: string) => `${base}types:${topicUid}`
/**
 * Sorted set by the ms of their start, in the topic's home shard: changes that span shards and have not ended
 * (topics-repair.ts). A sweep finishes changes that a crash interrupted.
 */
export const unfinishedKey = (base: string) => `${base}unfinished`
/**
 * Hash in the slice's shard:
 * - `rev` revision, `arn` of the topic, `topic` (JSON TopicRecord with its checksum), `v` (version of that record)
 * - `rate` default rate of subscriptions or '', `ret` retention in seconds, `ovr` '1' if subscriptions may not override
 * the policy
 * - `n:active`, `n:pending`, `n:paused`: numbers of subscriptions
 * - `departures`: number of subscriptions that it has lost
 */
export const sliceKey = (base: string, sliceId: string) => `${base}slice:${sliceId}`
/** Hash in the slice's shard: subscription id → its record, packed (subscription-fields.ts). */
export const subscriptionsKey = (base: string, sliceId: string) => `${base}subs:${sliceId}`

// `<base>bits:<slice id>`. Bitmap in the slice's shard: bits in use.
/**
 * Hash in the slice's shard: the number of a departure → the subscription that left (former-subscriptions.ts), for the
 * newest 500 departures. After the topic's deletion also `arn` of the topic.
 */
export const departedKey = (base: string, sliceId: string) => `${base}departed:${sliceId}`
// `<base>departed:slices`. Sorted set: ids of removed slices whose subscriptions are remembered, by the number of all
// subscriptions that were remembered up to it. The oldest are forgotten (slice-subscriptions.lua).
// `<base>tombstone:<id>`. String, 60 s, in the slice's shard: names a removed subscription or slice, so that a late
// creation is refused.
/** Sorted set by tokenExpiresAt, in the slice's shard: ids of pending and unsubscribed subscriptions. */
export const expiriesKey = (base: string) => `${base}expiries`

// ---- kept messages: owned by kept/kept-messages.ts, in the topic's home shard, deleted with the topic and when its
// ---- setting is turned off; a sweep removes messages that are too old (kept-upkeep.ts)

/**
 * Hash: `<topic uid> <topic ARN>` → approximate bytes of the topic's ring. A field is removed with the ring's last
 * message.
 */
export const keptKey = (base: string) => `${base}kept`
// `<base>kept:<topic uid>`. Hash, notes about a ring:
// - `l`: its highest score
// - `f`: ms at which the newest message was kept that the ring lost because it had too many bytes
// - `b`: how many messages all jobs had that were ever kept whole, less one for each job. By it the ring knows how many
//   more messages than places it has.
// `<base>kept:jobs:<topic uid>`. Sorted set: names of jobs that are kept whole, by the same score.
// `<base>kept:published:<topic uid>`. Sorted set: the same names, by the ms at which their first message was published.
// `<base>kept:job:<topic uid>:<name>`. Hash: a copy of the job's record, with two more members. `ft:ids` has the
// message ids (16 bytes each), and `ft:beyond` has the number `b` before this job. Deleted with the job's place.
// `<base>kept:dropped:<topic uid>:<number>`. Sorted set: the `kept:jobs:<topic uid>` of a ring that was removed. Sweeps
// delete its jobs, and then the set. The numbers of a uid begin with 1 and have no gap.
/** Set: `<topic uid> <topic ARN>` of rings that have kept jobs whole. A name is removed with the ring's last job. */
export const keptWholeKey = (base: string) => `${base}kept:whole`
/**
 * Sorted set of a ring: 16 bytes message id, or the name of a job that is kept whole, by score. The score is the ms of
 * keeping times 2,048, and rises with every message. A job has the score of its last message.
 */
export const keptOrderKey = (base: string, topicUid: string) => `${base}kept:order:${topicUid}`
/** Hash of a topic's ring: 16 bytes message id → stored text (message-bodies.ts). */
export const keptBodiesKey = (base: string, topicUid: string) => `${base}kept:bodies:${topicUid}`

// ---- archives: owned by archive/archives.ts, in the topic's home shard. They outlive the topic until all objects of
// ---- blocks are deleted.

/** Set: `<topic uid> <topic ARN>` of archives, also of ended ones that still have objects. */
export const archivesKey = (base: string) => `${base}archives`
/**
 * Hash, notes about an archive:
 * - `s`: ms at which it began
 * - `c`: its cursor. Messages of the ring up to this score are in blocks.
 * - `w`: the last score of the block that is being written
 * - `m` and `b`: messages and bytes in its blocks; `x`: messages that were lost, because memory was short or their
 *   texts were missing
 */
export const archiveKey = (base: string, topicUid: string) => `${base}archive:${topicUid}`
// `<base>archive:blocks:<topic uid>`. Sorted set: blocks by the score of their last message, as the text `<score before
// the first message> <messages> <bytes> <ms of the first publish> <ms of the last publish>`.
/** Sorted set: the same texts of blocks that have left the archive. Each is removed when its object is deleted. */
export const removedBlocksKey = (base: string, topicUid: string) => `${base}archive:removed:${topicUid}`

// ---- FIFO topics: owned by fifo-log.ts and fifo-reading.ts, in the topic's home shard, deleted with the topic

// `<base>fifo:<topic uid>`. Hash: `a` the topic's ARN, `n` last sequence number given (its last 19 digits), `f` fence
// of the log's reader, `e` fence of the latest reader whose end is noted, `g` last fence given for an isolated group.
// After a reader has died: `k` messages moved one by one since, `u` and `v` the message under way (16 bytes) and its
// reader's fence, `x` readers that have died at the first message (fifo-isolation.lua).
// `<base>log:<topic uid>`. List, oldest first: 16 bytes message id and the group of each message that has not been
// moved into lanes yet. While it is not empty, `log:<uid>` is in `due`.
// `<base>isolated:<topic uid>`. Set: groups that are isolated. Each has a log of its own and a hash with `f`, `u`, `v`
// and `x`, under `<uid>:<group>` in place of the uid, until that log is empty. Meanwhile `isolated:<uid>:<group>` is in
// `due`.
// `<base>dedup:<topic uid>:<scope><id>`. String, 5 minutes: 16 bytes message id, 20 digits sequence number, ms of the
// publish. `scope` is the group and a space if the topic deduplicates by group, else ''.

// ---- lanes: owned by lanes.ts; the lane hash is made with the subscription, removed after its deliveries

/**
 * Hash of a lane:
 * - `s` slice id, `g` '1' if the subscription is deleted, `p` '1' if it is paused, `gone` if a 410 paused it
 * - `r` own rate or '', and behind `<` the rate that a customer has set (lane-throttle.lua)
 * - `x` the throttle's theoretical arrival time (ms, fractional), `c` maxInFlight
 * - `gr` rates of message groups (group-rate.lua). Absent: groups have no throttle
 * - `k` number of claims modulo 5, `q` '1' if there is a dead-letter queue, `u` ms of the last purge
 * - `l` seconds for which deliveries are kept at least
 * - `a` '1' if the endpoint is proven. Absent: it has not answered in time yet, or its latest attempt hung.
 * - last failure: `e` error, `h` status code, `ea` ms. Last success: `eo` ms. `en`: recent attempts (lane-seen.lua)
 * - `ec` number of failures in a row, `es` ms of the first of them, `em` ms at which the endpoint was last changed
 * - `m` retry mode (`s`, `a` or `-`), and after it failures and ms between probes of a circuit breaker. Their state:
 *   `mq`, `mn`, `mf`, `mu`, `mc`, `ml`, `mt`, `mr`, `mb`, `mi`, `mz` (lane-pace.lua, report-answers-1.lua)
 * - `mx` name of the broken credential that blocks the lane, or `gone` until a probe has shown that its endpoint
 *   is back (lane-blocked.lua)
 * - `dm` ms until which the lane shows that its dead-letter queue is missing, `dk` that it has messages whose key
 *   is missing (lane-settle.lua)
 * - FIFO lanes that have got a delivery: `f` '1', or '2' if several of a group may be sent at once; `b` number of
 *   deliveries behind the heads of their groups
 */
export const laneKey = (base: string, subscriptionId: string) => `${base}lane:${subscriptionId}`
// `<base>fresh:<subscription id>`. Sorted set by due ms: deliveries without an attempt. Member: 16 bytes message id (+
// 2 bytes generation if redriven, 6 if resent).
// `<base>retry:<subscription id>`. Sorted set by due ms: deliveries that were attempted, deliveries that are declared
// dead, and deliveries that wait because their leases ended again and again.
// `<base>lease:<subscription id>`. Sorted set by lease: deliveries in flight. A lease is its end in ms times 2,048,
// plus a number that makes it unique. In a FIFO lane it is odd.
// `<base>state:<subscription id>`. Hash: delivery → packed retry state, and the number of its leases that have ended
// one after the other (lane-state.lua). Deliveries that have neither are not in it.
// `<base>tats:<subscription id>`. Sorted set: message group → the theoretical arrival time of its throttle. Expires a
// second after the last.
// `<base>shelves:<subscription id>`, `<base>shelved:<subscription id>`. Sorted sets: message group → number of its
// shelf, and → when its next delivery may come down. A delivery on a shelf stays in `fresh` or `retry`, with a score
// above all times (group-rate.lua). Deleted when nothing is on a shelf.
// `<base>groups:<subscription id>`. Hash of a FIFO topic's lane: `g<group>` → head of the group, the delivery that is
// in one of the sets; `d<head>` → group.
// `<base>behind:<subscription id>:<group>`. List: deliveries behind a group's head, in order. Deleted when it is empty.
/**
 * Sorted set by ms, which decides what runs when:
 * - subscription id → when its lane next needs a take
 * - `log:<topic uid>` → when the log of a FIFO topic needs a reader
 * - `isolated:<topic uid>:<group>` → when the log of an isolated group needs a reader
 */
export const dueKey = (base: string) => `${base}due`
/**
 * Sorted set by ms: subscription id → when its lane next needs a take, for lanes whose endpoint is not proven (`a` of
 * the lane). They are here instead of in `due`, in the order in which they are served. A worker takes only as many as
 * it has slots for attempts that may hang, and reads no other lane.
 */
export const unprovenKey = (base: string) => `${base}unproven`
/**
 * Set: paused lanes with deliveries that wait or are in flight. They are not in `due`, so the sweep finds them here.
 */
export const pausedKey = (base: string) => `${base}paused`
/** Any type: a value that was in the place of one of these three. Deleted when all lanes are in their sets again. */
export const tornDueSetsKey = (base: string) => `${base}due:torn`
/**
 * Sorted set by ms of the last failure: subscriptions whose latest attempts failed. An entry is removed at the next
 * success, or a day after its last failure (note-attempts-1.lua).
 */
export const failingKey = (base: string) => `${base}failing`
// `<base>roundtrip`. String: how many ms further ahead the shard's send times are given out, because round trips of a
// worker take that long (take-deliveries-1.lua). Expires 10 s after such a worker's latest take.
// `<base>leases:given`. String: number of leases given so far, which makes each lease unique. Never deleted.
// `<base>redriven:<task>`. Hash: the latest batch of a redrive task in this shard. `f` fence, `b` number of the batch,
// `<item id>` → '' for each item that it parked. Expires a day after the latest batch.
// `<base>redriven:by:<subscription>`. Hash: redriven delivery in the lane → id of its redrive. A field is removed with
// its delivery. Expires 15 days after the last delivery came.
/**
 * Hash: how many deliveries of a redrive were delivered `d`, dead-lettered again `q` or discarded `x`. Expires 14 days
 * after the last of them.
 */
export const redriveOutcomesKey = (base: string, id: string) => `${base}outcomes:${id}`
/**
 * Hash: `b` (message-bodies.ts), `n` (deliveries of this shard that refer to it), `t` topic uid, `g` message group if
 * the message has one and is parked. Deleted when `n` reaches 0.
 */
export const messageKey = (base: string, messageIdBytes: Buffer) =>
  Buffer.concat([Buffer.from(`${base}msg:`), messageIdBytes])
/**
 * Hash: topic uid → approximate bytes of its waiting deliveries in this shard. A field is removed with the last of
 * them.
 */
export const topicBytesKey = (base: string) => `${base}topicbytes`
/** Hash: counts by cause (`discarded:permanent`, `expired`, `deadLettered`, `orphaned`, …). Never deleted. */
export const countsKey = (base: string) => `${base}counts`
/**
 * Hash: `f` fence, `p` the latest parked batch, `<message index>.<slice id>` → bitmap of settled bits, and the notes of
 * an isolating run. The job deletes it. Otherwise it expires after a day.
 */
export const checkpointKey = (base: string, job: string) => `${base}checkpoint:${job}`

// ---- quarantine: owned by quarantine/quarantine.ts, under one hash tag; an operator deletes entries or puts them back

/** Prefix of all keys of the quarantine. */
export const QUARANTINE_BASE = 'ft:{quarantine}:'
/** Sorted set, all scores 0: ids of the entries. */
export const quarantineKey = () => `${QUARANTINE_BASE}entries`
/**
 * Hash, an entry: `reason`, `detail`, `at` (ms), `bytes` that it counts, `messageId`, `topicArn`, `subscriptionId`
 * where they are known, `messageIds` (JSON: all that it is about), `raw` (the bytes that could not be read).
 */
export const quarantinedKey = (id: string) => `${QUARANTINE_BASE}entry:${id}`
/** Sorted set, all scores 0: `<message id> <entry id>`. */
export const quarantinedMessagesKey = () => `${QUARANTINE_BASE}messages`
/** String: approximate bytes of all entries. */
export const quarantineBytesKey = () => `${QUARANTINE_BASE}bytes`
/**
 * String, JSON: a message that is isolated (quarantine/isolated-messages.ts). It expires ten minutes after the
 * message's delay.
 */
export const isolatedKey = (messageId: string) => `${QUARANTINE_BASE}isolated:${messageId}`

// ---- queues: owned by queues.ts, in the queue's home shard, deleted with the queue

/** Sorted set, all scores 0: queue ARNs of the shard. */
export const queuesKey = (base: string) => `${base}queues`
/**
 * Hash of a queue:
 * - `record` (JSON QueueRecord with its checksum), `uid`
 * - settings for scripts: `v` visibility timeout, `r` retention, `d` delay (ms), `m` maxReceiveCount, `t` dead-letter
 *   queue, `cb` '1' if deduplication ids may be made from bodies, `gs` '1' if they hold within a group only
 * - `seen` and `off` of the queue's clock (queue.lua)
 * - `seq` number of items stored so far, `purged` ms of the last purge, `forgot` value of `seq` at that time
 * - `of` ARN of the topic that made the queue for its dead letters
 * - `gr` '1' if a standard queue had a message with a group since it was last empty
 */
export const queueKey = (arn: string) => `${shardBase(shardOf(arn))}queue:${arn}`
/** The key `age` of the queue with this uid, see below. */
export const queueAgesKey = (arn: string, uid: string) => `${shardBase(shardOf(arn))}q:${uid}:age`
// `<base>q:<uid>:` is the beginning of all other keys of a queue. A queue that is deleted and created again gets
// another `uid`. The keys after this beginning:
// - `age`. Sorted set of all items, by the time from which their retention counts (ms of the queue's clock).
// - `ready`, `delayed`, `flight` (by when the item comes back), `moving` (on its way to the dead-letter queue, by the
//   end of the lease), `chosen` (in a batch of a redrive). Sorted sets by ms of the queue's clock. An item is in one of
//   them.
// - `recent`. Sorted set by ms: ids that senders gave to removed items. Ids of items that a redrive policy brought
//   begin with `>`. An id is kept for 10 minutes, and at most 100,000 are kept.
// - `dead`. Hash: kind of dead letter → number.
// - `i:<id>`. Hash of an item. Payload `p`, with its checksum (checksums.ts); times: `s` sent, `f` first received, `t`
//   newest receive; `c` receive count; `h` digests of the secrets of its handles, newest first (FIFO: only the newest).
//   If a redrive policy brought it: `x` source queue, `b` receives before that. `i` '1' if the sender gave the id, `n`
//   '1' if it may be received in spite of the redrive policy. `g` group, `d` deduplication id (FIFO: '' stands for the
//   body's digest, absent for the item's id), `o` sequence number (FIFO). `e` when it was dead-lettered or moved here.
//   Dead letters: `r` reason, `k` status code, `u` subscription ARN, `m` message id, `l` code of the last failure.
// - Standard queues with message groups (queue-fair-order.lua): `g:<group>`. Sorted set: visible items of the group,
//   which are not in `ready`. `heads` and `noisy`. Sorted sets: groups by their first visible item. `busy`. Hash: group
//   → number in flight, and its mean.
// - FIFO: `g:<group>`. Sorted set: items of the group by sequence number.
// - FIFO: `heads`, `back`. Sorted sets: groups by when their first item is visible (queue.lua). There is no `ready` and
//   no `delayed`. `flight` has all items that were received, and those that must not be received (with a time far
//   ahead).
// - FIFO: `d:<SHA-1>`. String for each deduplication id, 5 minutes. `a:<SHA-1>`. List for each receive attempt, 5
//   minutes.
// In addition to its body, a message takes about 700 bytes in a standard queue. In a FIFO queue it takes 950, and 250
// more for 5 minutes.
// `<base>q:<uid>:push-consumers`. Hash: a push consumer's name → JSON PushConsumerRecord with its checksum. Deleted
// with the queue.
// `<base>q:<uid>:push-leases:<consumer>`. Sorted set by the end of the lease: batches of a push consumer that are being
// pushed. Expires a minute after the last lease.
/** Sorted set, all scores 0: ARNs of the shard's queues that have push consumers. */
export const consumingKey = (base: string) => `${base}consuming`
/** Sorted set by ms of their end: leases of the shard's queues, by ARN. 0: the queue is being deleted. */
export const leasedQueuesKey = (base: string) => `${base}queues:leased`
// `<base>queues:leased:at`. String: ms by Redis's clock at which an API last noted that it serves the shard. Never
// deleted.
/** Set: ARNs of topics that may have subscriptions to a leased queue. Deleted with the lease. */
export const leasedTopicsKey = (arn: string) => `${shardBase(shardOf(arn))}queue:topics:${arn}`
/** String: when the queue of this name was deleted, ms. Kept for 60 s. */
export const queueDeletedKey = (arn: string) => `${shardBase(shardOf(arn))}queue:deleted:${arn}`
/** Hash: ARN of a queue that a topic made for its dead letters → its approximate bytes. Deleted with the queue. */
export const letterBytesKey = (base: string) => `${base}letters`
/** Set: uids of deleted queues that still have items. */
export const deletedQueuesKey = (base: string) => `${base}queues:deleted`
/** Sorted set by ms of adding: queues (`sqs`) or subscriptions (`sns`) whose redrive policy names this queue. Each is
 *  removed with its policy, or with the subscription. */
export const sourcesKey = (arn: string, service: 'sqs' | 'sns') =>
  `${shardBase(shardOf(arn))}sources:${service}:${arn}`

// ---- redrives: owned by redrives.ts, in the source's home shard

/**
 * Hash of a redrive task, which expires 14 days after the end of the task. It has the members of the record by name,
 * and the progress:
 * - `uid` of the source, `newest`: the highest score in `age` when the task began; of a resend: in the ring
 * - `topic`: ARN of the topic, of a resend; `follows` '1' if it goes on with new messages of the topic's archive;
 *   `archive`: ms at which that archive began; `untilKept`: ms, it waits for messages that a FIFO log has had since
 *   before this time
 * - `score` and `last`: cursor of the scan; `done` '1' if the scan has reached the end
 * - `fence`, `batch` (number of the latest batch), `items` (JSON ids of the open batch, or the scores between which its
 *   messages are in an archive; absent between batches)
 * - `next`: ms at which the rate allows the next batch
 * - `shards`: numbers, by commas, of the lanes that got its messages; `inLanes`: how many did
 * - `canaryAt`: ms since which the ends of the canary are awaited; `judged` '1' if they were good, or the task paused
 * - `edit`: what an edited redrive sends (JSON RedriveEdit with its checksum); removed when the task ends
 */
export const redriveKey = (base: string, id: string) => `${base}redrive:${id}`
// `<redriveKey>:left`. Set: groups of a FIFO source. The task has left a message of each of these groups in the source,
// so it also leaves all later messages of the group there. Deleted when the task ends.
/** Sorted set, all scores 0: ids of the shard's tasks. An id begins with its time. A sweep removes old ones. */
export const redrivesKey = (base: string) => `${base}redrives`
/** Hash: source ARN → id of its active task. */
export const redrivingKey = (base: string) => `${base}redriving`

// ---- not in a shard

/**
 * String, a count of confirmation messages (confirmation-limits.ts). The scope is the SHA-1 in hex of receiver and
 * endpoint. Expires an hour after the first message. The key is in the slot of one of 256 tags, so that a cluster's
 * masters share the load.
 */
export const confirmationsKey = (scope: string) => `ft:{asked-${scope.slice(0, 2)}}:asked:${scope}`

/** String: one process has the role (leader.ts). Expires with the role's time. */
export const roleKey = (role: string) => `ft:{leader}:${role}`
/**
 * String, empty, in the slot of `key`. It is written before each WAIT (replica-acks.ts). Expires 60 s after the last
 * write.
 */
export const barrierKey = (key: string) => `ft:{${/\{([^}]+)\}/.exec(key)?.[1] ?? key}}:barrier`

/**
 * Hash: a dispatch job. It is BullMQ's own, like every key that begins with `<this key>:`. Fantail adds the field
 * JOB_PARTS (job-lock.ts). Deleted when the job and all its parts are completed.
 */
export const dispatchJobKey = (queueNumber: number, id: string) =>
  `ft:{${dispatchTag(queueNumber)}}:dispatch-${queueNumber}:${id}`
/** Field of a dispatch job that was cut: its parts, JSON DispatchPart[]. */
export const JOB_PARTS = 'parts'
/** The beginning of both signing keys (signing-keys.ts). */
export const SIGNING_BASE = 'ft:{signing}:'
/**
 * String, JSON with its checksum: `certificate` (PEM) and the private key of the signing pair: `privateKey`, or
 * `sealed` with a master key. Kept until an operator deletes it. The next process that signs then makes another pair.
 */
export const signingPairKey = () => `${SIGNING_BASE}pair`
/**
 * Hash: certificates with their checksums, by name (32 hex digits of their SHA-256), also the certificates of earlier
 * pairs. Never deleted.
 */
export const signingCertificatesKey = () => `${SIGNING_BASE}certificates`
/** The beginning of all keys about API keys (api-keys.ts, key-limits.ts). */
export const API_KEYS_BASE = 'ft:{keys}:'
/** Hash: id of an API key → JSON ApiKeyRecord with its checksum. A key stays until it is revoked. */
export const apiKeysKey = () => `${API_KEYS_BASE}records`
/** Sorted set, all scores 0: `<account> <id>` of every API key. */
export const apiKeyNamesKey = () => `${API_KEYS_BASE}names`
// `<API_KEYS_BASE>cursors`. String: the key that seals cursors (api-keys.ts). Never deleted.
// `<API_KEYS_BASE>bucket:<id>`. String: theoretical arrival time (ms, fractional) of an API key's next request. Expires
// 2 s after the last request.
/** The beginning of the keys of quotas (quotas/quotas.ts). */
export const QUOTAS_BASE = 'ft:{quotas}:'
/** Hash: `<account> <prefix>` → JSON of a quota's bounds with its checksum. A quota stays until it is deleted. */
export const quotasKey = () => `${QUOTAS_BASE}records`
/**
 * Sorted set by ms of their end: creations of topics or subscriptions that are under way below a quota. Expires 10 s
 * after the last one has begun.
 */
export const creatingKey = (member: string, name: string) => `${QUOTAS_BASE}creating:${member}:${name}`
/** The beginning of all keys about sessions of the console (sessions.ts). */
export const SESSIONS_BASE = 'ft:{sessions}:'
/**
 * String, JSON with its checksum: a session by the SHA-256 of its token, hex. Expires an hour after it was last used.
 */
export const sessionKey = (digest: string) => `${SESSIONS_BASE}session:${digest}`
// `<SESSIONS_BASE>expiry`. Sorted set by ms of their end: `<digest> <key id> -` of each session.
/**
 * String: number of counted logins from an address. A successful login is taken back. Expires a minute after the first
 * one.
 */
export const loginsKey = (address: string) => `${SESSIONS_BASE}logins:${address}`
/** The beginning of all keys of credentials (credentials/own-credentials.ts). */
export const CREDENTIALS_BASE = 'ft:{credentials}:'
/**
 * Hash of a broken credential: `s` when it broke, `p` when it is probed next (ms), `d` the error. Deleted when the
 * credential works. Expires ten minutes after the last attempt.
 */
export const credentialKey = (name: string) => `${CREDENTIALS_BASE}broken:${name}`
/** The beginning of all keys of mail (mail/suppressions.ts, mail-state.ts). */
export const MAIL_BASE = 'ft:{mail}:'
/**
 * Hash: from an address in lower case that gets no mail to JSON of reason, detail and time. An entry stays until an
 * operator removes it.
 */
export const suppressionsKey = () => `${MAIL_BASE}suppressions`
/** Sorted set of the same addresses, with all scores 0. */
export const suppressedAddressesKey = () => `${MAIL_BASE}suppressed`
// `<MAIL_BASE>links`. String: the key that unsubscribe links are signed with (mail-state.ts). Never deleted.
// `<MAIL_BASE>bucket:<domain>`. String: theoretical arrival time (ms, fractional) of the next mail to that domain.
// Expires 2 s after the last mail.
/** The beginning of all keys for text messages (sms/sms-state.ts, sandbox-numbers.ts). */
export const SMS_BASE = 'ft:{sms}:'
/** Sorted set, all scores 0: numbers that get no text messages. A number stays until it is opted in. */
export const optedOutKey = () => `${SMS_BASE}opted-out`
/** Hash: attributes of SetSMSAttributes, as given. Never deleted. */
export const smsAttributesKey = () => `${SMS_BASE}attributes`
/** Hash: number of the sandbox → Pending or Verified. A number stays until it is deleted. */
export const sandboxNumbersKey = () => `${SMS_BASE}sandbox`
/**
 * String: millionths of a USD that text messages of a day (`2026-11-23`, UTC) or month (`2026-11`) cost. Expires two
 * days or two months after the last message.
 */
export const smsSpentKey = (period: string) => `${SMS_BASE}spent:${period}`
/** The beginning of all keys of statistics (stats/stats-store.ts). */
export const STATS_BASE = 'ft:{stats}:'
/**
 * Hash: minute of the hour → msgpack array of published, delivered, failed, dead-lettered, then pairs of bucket
 * (log-buckets.ts) and count. `kind` is t topic, s subscription or a account. Expires 25 hours after the last count.
 */
export const statsMinutesKey = (kind: string, name: string, hour: number) =>
  `${STATS_BASE}minutes:${kind}:${name}:${hour}`
/** The same by hour of the day, UTC. Expires 31 days after the last count. */
export const statsHoursKey = (kind: string, name: string, day: number) =>
  `${STATS_BASE}hours:${kind}:${name}:${day}`
/**
 * String: a week of a subscription, as a msgpack array of hour (remainder of NUMBER.WEEK_CIRCLE), delivered, failed,
 * dead-lettered and ms of all arrivals, for each hour with counts. Expires eight days after the last count.
 */
export const statsWeekKey = (subscriptionId: string) => `${STATS_BASE}week:${subscriptionId}`
/** Sorted set by ms of the last count: names with statistics. A seat is given away after a day without counts. */
export const statsSeatsKey = (kind: string) => `${STATS_BASE}seats:${kind}`
// `<STATS_BASE>writer:<id>`. String: number of the process's last flush. Expires a day after it.

/**
 * Hash: `reportedUntil` (ms), and each open alarm of notices: type and subscription id → topic ARN and host
 * (notices/open-alarms.ts). Expires a day after the last round.
 */
export const openAlarmsKey = () => 'ft:{notices}:alarms'

/** The beginning of all keys of recorded attempts (attempts/attempt-store.ts). */
export const ATTEMPTS_BASE = 'ft:{attempts}:'
/**
 * List: recorded attempts of a subscription, newest first, each a line of JSON (attempt-record.ts). A sweep deletes it
 * when the subscription is deleted. Otherwise it is deleted a week after its last record, or when all records take too
 * many bytes.
 */
export const attemptsKey = (subscriptionId: string) => `${ATTEMPTS_BASE}of:${subscriptionId}`
/** Hash: subscription id → approximate bytes of its recorded attempts. A field is removed with these attempts. */
export const attemptBytesKey = () => `${ATTEMPTS_BASE}bytes`
// `<ATTEMPTS_BASE>recent`. Sorted set by ms of the last record: ids of subscriptions with recorded attempts.
// `<ATTEMPTS_BASE>total`. String: sum of the bytes. Like the two others, it expires eight days after the last record.

// ---- mobile push: owned by push/, in the shard of the application's ARN, deleted with the application

/** Sorted set, all scores 0: ARNs of the shard's platform applications, for listing. */
export const platformApplicationsKey = (base: string) => `${base}apps`
/** String: JSON PlatformApplicationRecord with its checksum. */
export const platformApplicationKey = (arn: string) => `${shardBase(shardOf(arn))}app:${arn}`
/** Hash: an endpoint's id → JSON PlatformEndpointRecord with its checksum. */
export const platformEndpointsKey = (application: string) =>
  `${shardBase(shardOf(application))}devices:${application}`
/** Hash: SHA-1 of an endpoint's token (40 hex digits) → the endpoint's id. */
export const platformTokensKey = (application: string) =>
  `${shardBase(shardOf(application))}devicetokens:${application}`
/** Sorted set, all scores 0: ids of the application's endpoints, for listing. */
export const platformEndpointIdsKey = (application: string) =>
  `${shardBase(shardOf(application))}deviceids:${application}`

/** The beginnings of the keys of portal links, portal sessions and their counts (access/portal-sessions.ts). */
export const PORTAL_LINKS_BASE = 'ft:{portal}:links:'
export const PORTAL_SESSIONS_BASE = 'ft:{portal}:'
export const PORTAL_USES_BASE = 'ft:{portal}:uses:'
// `<PORTAL_LINKS_BASE>session:<digest>`. String, JSON PortalLinkRecord with its checksum: a link that was not redeemed
// yet. 10 minutes.
// `<PORTAL_SESSIONS_BASE>session:<digest>`. String, JSON PortalSessionRecord with its checksum. Expires when the
// session ends.
// `expiry` behind either: sorted set by ms of their end: `<digest> <key id> <customer>`. `customer` is a digest of the
// grant.
// `<PORTAL_USES_BASE>logins:<what>:<session id>`. String: how often a session has done it. Expires with its window.

/** The beginning of the keys of the audit trail (audit/audit-writer.ts). */
export const AUDIT_BASE = 'ft:{audit}:'
/** Stream: `l` JSON StoredAuditLine. The newest 10,000 lines; never deleted. */
export const auditLinesKey = () => `${AUDIT_BASE}lines`
/** The same for changes by keys with prefixes and by links: the newest 5,000. */
export const auditBoundKey = () => `${AUDIT_BASE}bound`
/** The same for changes by portal sessions: the newest 5,000. */
export const auditPortalKey = () => `${AUDIT_BASE}portal`
/** The same for refused changes of keys: the newest 2,000. */
export const auditRefusedKey = () => `${AUDIT_BASE}refused`
/** The same for refused callers without a key: the newest 1,000. */
export const auditStrangersKey = () => `${AUDIT_BASE}strangers`
// `<AUDIT_BASE>last`. Hash: `ms` and `count` of the newest id of all streams. Never deleted.
// `<AUDIT_BASE>writer:<id>`. String: number of the process's last batch. Expires a day after it.

/** The beginning of the keys about running processes (processes/processes.ts). */
export const PROCESSES_BASE = 'ft:{processes}:'
/** Hash: id of a process → JSON ProcessReport. A process that stops, or is silent for 35 s, is removed. */
export const processRecordsKey = () => `${PROCESSES_BASE}records`
// `<PROCESSES_BASE>seen`. Sorted set by ms of the latest report: ids of processes.
/** String, JSON: the format of the data (include/data-format.lua). Stored by the first process; never deleted. */
export const dataFormatKey = () => `${PROCESSES_BASE}format`

/** The beginning of the keys of bulk tasks (bulk/bulk-tasks.ts). All of a task expire 14 days after its last batch. */
export const BULK_BASE = 'ft:{bulk}:'
/**
 * Hash of a bulk task: `r` JSON of its order with its checksum, `s` status, `t` number of objects, `d` how many are
 * done, `x` how many failed, `f` fence, `o` JSON: how the objects of the open batch were before, `b` and `e` ms of its
 * begin and end, `u` id of the task that undoes it, `p` id of the key that planned it, or ''. A task that was not
 * started expires after 15 minutes.
 */
export const bulkTaskKey = (id: string) => `${BULK_BASE}task:${id}`
/** List: the objects of a task. Deleted with its end. */
export const bulkObjectsKey = (id: string) => `${BULK_BASE}objects:${id}`
/** List: the objects that a task has changed. */
export const bulkChangedKey = (id: string) => `${BULK_BASE}changed:${id}`
/** List: JSON BulkFailure of the first objects that failed. */
export const bulkFailuresKey = (id: string) => `${BULK_BASE}failures:${id}`
/** Hash: what a task has done, by kind → number. */
export const bulkCountsKey = (id: string) => `${BULK_BASE}counts:${id}`
/** Sorted set by ms of their begin: ids of started tasks. */
export const bulkStartedKey = () => `${BULK_BASE}started`
// `<BULK_BASE>planned`. Sorted set by ms of their end: ids of tasks that were not started.
// `<BULK_BASE>running`. Sorted set by the end of their leases: ids of tasks that run.

/** The beginning of the vault's key (vault-keys.ts). */
export const VAULT_BASE = 'ft:{vault}:'
/**
 * Set: ids of the master keys that may have sealed secrets here (vault-keys.ts). An id stays until all its secrets are
 * resealed.
 */
export const vaultKeysKey = () => `${VAULT_BASE}keys`
/**
 * Hash: shard → its earliest due ms, and `u<shard>` → ms of its first lane of an unproven endpoint, or 0 if that is
 * unknown. This is a hint, written after parks and settlements. The sweep covers lost hints.
 */
export const BUSY_SHARDS = 'ft:{hints}:busy'
/** Stream: bundles of outcomes. FANTAIL_LOG_MESSAGES bounds the number of entries in these bundles. */
export const outcomeLogKey = (queueNumber: number) =>
  `ft:{${queueNumber === 0 ? 'log0' : dispatchTag(queueNumber)}}:outcomes`
// `<outcome log>:kept:<copy>`. Stream: a copy of a log while a customer is erased (erasure/erase-log.ts).
// `<outcome log>:swapped`. String: the name of the last copy that took the log's place.
/**
 * Pub/sub channels. Messages are `<shard>:<due ms>`, a queue's ARN, the ARN of a changed topic or queue, or the id of a
 * changed API key.
 */
export const WAKE_LANES = 'ft:wake:lanes'
export const WAKE_QUEUES = 'ft:wake:queues'
export const WAKE_CHANGES = 'ft:wake:changes'
/** Messages of one API process to itself, which prove that it has got all earlier WAKE_CHANGES. */
export const changesEchoes = (processId: string) => `ft:wake:changes:${processId}`
/** The id of a subscription that got another endpoint. Workers forget how the old one answered. */
export const WAKE_MOVED = 'ft:wake:moved'
/** The notice with the name of a credential that was broken and now works. */
export const WAKE_CREDENTIALS = 'ft:wake:credentials'
/** The ARN of a queue whose push consumers changed, or of which one has a free lease. */
export const WAKE_PUSH_CONSUMERS = 'ft:wake:push-consumers'
/** JSON: which live events the listeners of an API process want (events/live-interest.ts). */
export const WAKE_LISTENERS = 'ft:wake:listeners'
/** Live events for the listeners of one API process: JSON (events/live-sender.ts). */
export const liveChannel = (processId: string) => `ft:live:${processId}`
/** A redrive task's id: created, resumed, canceled. */
export const WAKE_REDRIVES = 'ft:wake:redrives'
/**
 * String, JSON: the ids that the first publish with this key stored (idempotency.ts, fifo-log.ts). Expires after 24 h.
 * It is in the topic's home shard, under the topic's uid. A topic that is deleted and created again therefore has none.
 */
export const idempotencyKey = (topicArn: string, topicUid: string, key: string) =>
  `${shardBase(shardOf(topicArn))}idem:${topicUid}:${key}`
/**
 * String: id of a stack whose time can be moved (travel/travel-store.ts). It stays in the data for ever. Never
 * deleted.
 */
export const TRAVEL_KEY = 'ft:{time}:travel'
/** Pub/sub channels of such a stack: the API's questions to all processes, and their answers (travel-listener.ts). */
export const travelQuestions = (id: string) => `ft:time:${id}:questions`
export const travelAnswers = (id: string) => `ft:time:${id}:answers`
