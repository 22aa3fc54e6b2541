/**
 * Which command of a worker completes a job. A completion deletes the job, so whoever runs it is asked at the moment at
 * which the command is written to the connection: also where ioredis sends it again after a reconnect, or has kept it
 * while there was no connection.
 */
import type { Command } from 'ioredis'

export interface CompletionGuard {
  /** `openSince`: when the connection was opened that the command is about to be sent on. */
  mayComplete(job: string, openSince: () => number): boolean
  /** Resolves when the job may be completed. Rejects where it must not: BullMQ then tries it again a second later. */
  prove(job: string, openSince: () => number): Promise<void>
}

const TARGET_AT = 4

/** Of BullMQ's `moveToFinished`: a script that names the set of completed jobs, and first the job, as arguments. */
export function completedJob({ name, args }: Pick<Command, 'name' | 'args'>): string | undefined {
  if (name !== 'evalsha' && name !== 'eval') return undefined
  const first = 2 + Number(args[1])
  if (String(args[first + TARGET_AT]) !== 'completed') return undefined
  return args.slice(2, first).some((key) => String(key).endsWith(':completed'))
    ? String(args[first])
    : undefined
}
