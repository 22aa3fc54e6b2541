/**
 * Recognises the command with which a worker completes a job. Completing deletes the job. So the command may be sent
 * only while the copies that the run has made still exist. ioredis may send a command late, after a reconnect.
 * Therefore each command is checked when it is written to the connection.
 */
import type { Command, Redis } from 'ioredis'

export interface CompletionGuard {
  /** Whether the job may be completed now. `sentOn`: the connection that will send the command. */
  mayComplete(job: string, sentOn: Redis): boolean
  /**
   * Resolves when the job may be completed. Rejects if it must not be completed. BullMQ then tries it again a second
   * later.
   */
  prove(job: string, sentOn: Redis): Promise<void>
}

const TARGET_AT = 4

/**
 * The job of BullMQ's script `moveToFinished`, if its arguments name the set of completed jobs. undefined: the command
 * completes no job.
 */
export function completedJob({ name, args }: Pick<Command, 'name' | 'args'>): string | undefined {
  if (name !== 'evalsha' && name !== 'eval') return undefined
  const first = 2 + Number(args[1])
  if (String(args[first + TARGET_AT]) !== 'completed') return undefined
  return args.slice(2, first).some((key) => String(key).endsWith(':completed'))
    ? String(args[first])
    : undefined
}
