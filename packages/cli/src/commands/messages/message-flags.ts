/** Reads the flags of `fantail publish`. */
import { readPairs } from '../../frame/command-input.ts'

export interface PublishFlags {
  attr?: string[]
  subject?: string
  group?: string
  dedup?: string
  idempotencyKey?: string
  rate?: string
  lines?: boolean
  objects?: boolean
}

/** The members of a message that flags set. */
export function membersOf({ attr, subject, group, dedup }: PublishFlags): Record<string, never> {
  const members = {
    ...(attr && { attributes: readPairs(attr, '--attr') }),
    ...(subject !== undefined && { subject }),
    ...(group !== undefined && { groupId: group }),
    ...(dedup !== undefined && { deduplicationId: dedup }),
  }
  return members as Record<string, never>
}
