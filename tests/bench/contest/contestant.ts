/** The interface of a contestant. */
import type { ChildProcess } from 'node:child_process'
import type { BenchRedis } from '../processes/bench-redis.ts'
import type { LoadOptions, LoadResult } from '../processes/ipc.ts'

export const NAMES = ['fantail', 'bullmq', 'bare'] as const
/** `earlier`: the Fantail of an earlier commit. */
export type Name = (typeof NAMES)[number] | 'earlier'

export interface Ends {
  /** Where deliveries go. */
  receiverPort: number
  /** The process that publishes. */
  publishers: ChildProcess
  /** Folder for CPU profiles of Fantail's processes. */
  profileDir?: string | undefined
  /** Folder of the earlier commit's tree. */
  earlierTree?: string | undefined
}

export type Load = Pick<LoadOptions, 'connections' | 'durationMs' | 'requestsMax' | 'bodyBytes' | 'batch'>

export interface Contestant {
  /** Pids of the processes between publish and delivery, without Redis. */
  processes: Record<string, number>
  /** The contestant's Redis, if it has one. */
  redis?: BenchRedis
  /** Publishes messages for the given time. Every path in `paths` gets each message. */
  load(paths: string[], load: Load): Promise<LoadResult>
  stop(): Promise<void>
}
