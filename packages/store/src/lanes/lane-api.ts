/** The operations on the lanes of all shards; `Lanes` (lanes.ts) implements them on Redis. */
import type {
  AttemptNote,
  Checkpoint,
  DeliveryRef,
  DeliveryWhere,
  LaneFigures,
  LaneResult,
  NotedResults,
  ParkRedrivenRequest,
  ParkRedrivenResult,
  ParkRequest,
  ParkResult,
  RenewedClaim,
  RenewRequest,
  Settlement,
  SettleResult,
  ShardTimes,
  SweepRequest,
  SweepResult,
  TakeRequest,
  TakeResult,
} from './lane-records.ts'

export interface LaneStore {
  /** Puts deliveries into their lanes and writes checkpoints; atomic. Callers bound the number of entries (1,000). */
  park(shard: number, request: ParkRequest): Promise<ParkResult>
  parkRedriven(shard: number, request: ParkRedrivenRequest): Promise<ParkRedrivenResult>
  /** Stores the fence, then reads what runs before this one settled. */
  openCheckpoint(shard: number, job: string, fence: number): Promise<Checkpoint>
  deleteCheckpoints(shard: number, jobs: string[]): Promise<void>
  /** Deletes what the checkpoint says of deliveries and keeps its fence for a day: earlier runs stay shut out. */
  keepFence(shard: number, job: string, fence: number): Promise<void>
  /** Claims what is due, the lanes that have waited longest first. */
  take(shard: number, request: TakeRequest): Promise<TakeResult>
  /** New send times for claims in hand, by lane and claim as in the request. */
  renew(shard: number, request: RenewRequest): Promise<RenewedClaim[][]>
  /** Bodies by message id or delivery, null where gone. */
  messages(shard: number, ids: Buffer[]): Promise<(Buffer | null)[]>
  settle(shard: number, settlements: Settlement[]): Promise<SettleResult>
  /** Answers of endpoints, for lanes with a retry mode or a circuit breaker. */
  note(shard: number, results: LaneResult[]): Promise<NotedResults>
  /** What attempts have come to, for the figures of any lanes. Callers bound the number of notes (1,000). */
  noteAttempts(shard: number, notes: AttemptNote[]): Promise<void>
  figures(ids: { subscriptionId: string; shard: number }[]): Promise<LaneFigures[]>
  deliveryStates(shard: number, items: DeliveryRef[]): Promise<DeliveryWhere[]>
  /** Makes what waits for a retry due now, or `maxPerSecond` apart; returns how many were moved. */
  retryNow(shard: number, subscriptionId: string, options?: { maxPerSecond?: number }): Promise<number>
  /** Makes those due now that wait, marked dead, for their dead-letter queue; returns how many were moved. */
  releaseDead(shard: number, subscriptionId: string): Promise<number>
  /** Discards what waits; what is in flight goes on. */
  purge(shard: number, subscriptionId: string): Promise<number>
  /** One step of looking for deliveries too old to keep, in paused lanes too, and for times that a clock set back. */
  sweep(shard: number, request: SweepRequest): Promise<SweepResult>
  /** For every shard that has any, in one round trip. */
  dueTimes(): Promise<ShardTimes>
  /** The hints: shards whose earliest times a script made earlier, until `noteDue` or `noteTurn` says otherwise. */
  busyShards(): Promise<ShardTimes>
  noteDue(shard: number, dueAt: number | null): Promise<void>
  noteTurn(shard: number, turnAt: number | null): Promise<void>
  /** Epoch ms as scripts see it: what due times and send times are to be compared with. */
  now(shard?: number): Promise<number>
}
