/** Reads the flags that choose dead letters. */
import type { Command } from 'commander'
import { collect, readWhole } from '../../frame/command-input.ts'
import { timeOf } from '../../output/durations.ts'
import { CommandError } from '../../output/exit-codes.ts'

const REASONS = ['permanent', 'retriesExhausted', 'expired', 'outcomeUnknown', 'setAside'] as const
const NONE = 'none' as const
type Reason = (typeof REASONS)[number]

export interface LetterFlags {
  sub?: string
  topic?: string
  error?: string
  status?: string
  reason?: string
  since?: string
  until?: string
  id?: string[]
}

export function withLetterFlags(command: Command): Command {
  return command
    .option('--sub <id>', 'only letters of this subscription; a deleted one by its ARN')
    .option('--topic <topic>', 'only letters of this topic')
    .option('--status <code>', 'only letters whose last answer had this status; none: there was no answer')
    .option('--error <code>', 'only letters whose last attempt failed so, as timeout; none: it has no code')
    .option('--reason <reason>', `only letters of this reason: ${REASONS.join(', ')}`)
    .option('--since <time>', 'only letters from this time on: 10m ago, or ISO 8601')
    .option('--until <time>', 'only letters up to this time: 10m ago, or ISO 8601')
}

export function withIds(command: Command): Command {
  return command.option('--id <message>', 'only this message (again for more)', collect)
}

export function letterFilter({ sub, topic, status, error, reason, since, until, id }: LetterFlags) {
  return {
    ...(sub !== undefined && { subscription: sub }),
    ...(topic !== undefined && { topic }),
    ...(status !== undefined && { statusCode: status === NONE ? NONE : readWhole(status, '--status', 100) }),
    ...(error !== undefined && { error }),
    ...(reason !== undefined && { reason: readReason(reason) }),
    ...(since !== undefined && { since: timeOf(since, '--since') }),
    ...(until !== undefined && { until: timeOf(until, '--until') }),
    ...(id && { messageIds: id }),
  }
}

/** The same flags as a query, for lists. */
export function letterQuery(flags: LetterFlags) {
  const { messageIds, ...filter } = letterFilter(flags)
  return { ...filter, ...(messageIds && { messageIds: messageIds.join(',') }) }
}

function readReason(text: string): Reason {
  const found = REASONS.find((reason) => reason === text)
  if (found) return found
  throw new CommandError('usage', `--reason must be one of ${REASONS.join(', ')}, not ${text}`)
}
