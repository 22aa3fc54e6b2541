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
} from './records/lane-records.ts'

export interface LaneStore {
  /**
   * Puts deliveries into their lanes and writes checkpoints, in one step. Callers bound the number of entries (1,000).
   */
  park(shard: number, request: ParkRequest): Promise<ParkResult>
  parkRedriven(shard: number, request: ParkRedrivenRequest): Promise<ParkRedrivenResult>
  /** Stores the fence, then reads which deliveries earlier runs have settled. */
  openCheckpoint(shard: number, job: string, fence: number): Promise<Checkpoint>
  deleteCheckpoints(shard: number, jobs: string[]): Promise<void>
  /** Deletes the checkpoint's record of deliveries. Its fence stays for a day, so that earlier runs remain refused. */
  keepFence(shard: number, job: string, fence: number): Promise<void>
  /** Claims deliveries that are due. Lanes that have waited longest come first. */
  take(shard: number, request: TakeRequest): Promise<TakeResult>
  /** New send times for unsent claims, by lane and claim as in the request. */
  renew(shard: number, request: RenewRequest): Promise<RenewedClaim[][]>
  /** Bodies by message id or delivery. null: the body is gone. */
  messages(shard: number, ids: Buffer[]): Promise<(Buffer | null)[]>
  settle(shard: number, settlements: Settlement[]): Promise<SettleResult>
  /** Answers of endpoints, for lanes with a retry mode or a circuit breaker. */
  note(shard: number, results: LaneResult[]): Promise<NotedResults>
  /** Stores the results of attempts, for the figures of lanes. Callers bound the number of notes (1,000). */
  noteAttempts(shard: number, notes: AttemptNote[]): Promise<void>
  figures(ids: { subscriptionId: string; shard: number }[]): Promise<LaneFigures[]>
  deliveryStates(shard: number, items: DeliveryRef[]): Promise<DeliveryWhere[]>
  /** Makes deliveries that wait for a retry due now, or `maxPerSecond` apart. Returns how many were moved. */
  retryNow(shard: number, subscriptionId: string, options?: { maxPerSecond?: number }): Promise<number>
  /** Makes dead deliveries that wait for their dead-letter queue due now. Returns how many were moved. */
  releaseDead(shard: number, subscriptionId: string): Promise<number>
  /** Lets a blocked lane make attempts again. Returns false if the lane was not blocked. */
  release(shard: number, subscriptionId: string): Promise<boolean>
  /** Discards the waiting deliveries. Deliveries in flight continue. */
  purge(shard: number, subscriptionId: string): Promise<number>
  /**
   * One step of the sweep. It finds deliveries that are too old, in paused lanes too. It also finds times that are
   * wrong because a clock was set back.
   */
  sweep(shard: number, request: SweepRequest): Promise<SweepResult>
  /** Due times of all shards that have any; one round trip. */
  dueTimes(): Promise<ShardTimes>
  /**
   * The hints: shards with their earliest times. Scripts make these times earlier, and `noteDue` and `noteUnproven`
   * replace them.
   */
  busyShards(): Promise<ShardTimes>
  noteDue(shard: number, dueAt: number | null): Promise<void>
  noteUnproven(shard: number, unprovenAt: number | null): Promise<void>
  /** The shard's time, epoch ms. Due times and send times are in this time. */
  now(shard?: number): Promise<number>
}
