/**
 * Finds the command of a worker that completes a job. A completion deletes the job. The job's run is therefore checked
 * when the command is written to the connection, also if ioredis sends it again after a reconnect or has kept it
 * without a connection.
 */
import type { Command } from 'ioredis'

export interface CompletionGuard {
  /** `openSince`: when the connection was opened that the command is about to be sent on. */
  mayComplete(job: string, openSince: () => number): boolean
  /** Resolves when the job may be completed. Rejects where it must not: BullMQ then tries it again a second later. */
  prove(job: string, openSince: () => number): Promise<void>
}

const TARGET_AT = 4

/** The job of BullMQ's `moveToFinished`: a script whose arguments name the set of completed jobs, and first the job. */
export function completedJob({ name, args }: Pick<Command, 'name' | 'args'>): string | undefined {
  if (name !== 'evalsha' && name !== 'eval') return undefined
  const first = 2 + Number(args[1])
  if (String(args[first + TARGET_AT]) !== 'completed') return undefined
  return args.slice(2, first).some((key) => String(key).endsWith(':completed'))
    ? String(args[first])
    : undefined
}
