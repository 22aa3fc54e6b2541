/**
 * Numbers that scripts and TypeScript share: `NUMBER.FULL_MS` in a script becomes 250 when the script is loaded. A
 * number that only one of them needs lies beside its use.
 */
import { RETRY_COST } from '@fantail/policy'

export const NUMBER = {
  /**
   * How far ahead of its send time a throttled delivery may be claimed. Past it: it waits in its lane. If a worker
   * dies, the send times of its claims are lost. So a send time is given out only this long before.
   */
  SEND_AHEAD_MS: 250,
  RETRY_COST,
  /**
   * How far ahead a stored send time may lie. Past it: the send time was stored before the clock was set back, and is
   * not used.
   */
  STORED_AHEAD_MAX_MS: 1_500,
  /** Renewed send times are at most this far ahead. A claim that would be later goes back to its lane. */
  RENEWED_AHEAD_MS: 1_200,
  /** A claim that is later than this may be too late when the worker has the reply. */
  IN_TIME_MS: 40,
  /**
   * If a lane is full for one worker, other workers may take from it after this time. The time is much shorter than
   * that after which an attempt counts as hung (attempt-slots.ts). After a hung attempt, workers may have fewer
   * deliveries of the lane in flight.
   */
  FULL_MS: 250,
  /** How many takes of a shard a distant worker makes side by side. They begin evenly within a round trip. */
  DISTANT_TAKES: 4,
  /**
   * Lease of a FIFO head that is sent to a queue with its followers. After it: the head waits again. Several
   * deliveries of a group are sent at once only to a queue of Fantail. It accepts or refuses them together, and
   * recognises repeated ones by their ids. After a worker's death its group therefore need not wait as long as for a
   * webhook.
   */
  FOLLOWED_LEASE_MS: 5_000,
  /** How long a sealed message whose key is missing waits in its lane, FIFO log or queue. */
  LOCKED_MS: 60_000,
  /** A message is isolated after this many failed starts or dead readers. */
  ISOLATED_FROM: 2,
  /** First pause between two tries of an isolated message. The pause doubles with each failed start. */
  ISOLATION_MS_MIN: 1_000,
  /** Longest pause between two tries of an isolated message. */
  ISOLATION_MS_MAX: 300_000,
  /** Windows of a FIFO log that one script reads past messages of isolated groups. Past it: the next move reads on. */
  WINDOWS_MAX: 10,
  /** A kept message as its script reads it: 16 bytes of the id, and 4 of the body's length. */
  PLACE_BYTES: 20,
  /** A place of a ring has the ms of keeping times this as its score, plus a number that rises with every message. */
  KEPT_STEPS: 2_048,
  /** Hours for which figures of a week are kept. */
  WEEK_HOURS: 168,
  /** Hours of a week are stored by their remainder of this number, which takes three bytes. */
  WEEK_CIRCLE: 1_000,
  /** Numbers of each hour of a week: its own, then delivered, failed, dead-lettered and ms. */
  WEEK_STEP: 5,
  /** How long a deleted queue is remembered. */
  DELETED_MS: 60_000,
  /**
   * The end of the lease of a queue that is being deleted. No receive renews it; every sweep continues the deletion.
   */
  DELETING: 0,
  /**
   * An API that serves a shard with leased queues notes it more often. Past it: nobody could receive, and the leases
   * are extended by this time.
   */
  UNSERVED_MAX_MS: 15_000,
  /** Position of a handle's secret in the reply for a received item, from 1. */
  SECRET_AT: 10,
  /** Lease of a message on its way to a dead-letter queue. After it: another process moves it. */
  MOVE_MS: 10_000,
  /** BullMQ's scores of delayed jobs are ms times this, plus a number. */
  DELAY_UNIT: 4_096,
} satisfies Record<string, number>
