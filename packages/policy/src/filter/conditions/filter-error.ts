/**
 * A filter policy is refused. The message is SNS's text, without the prefix of the operation (checklist 93 to 98, 100).
 * `explained` adds a reason if SNS's text gives none.
 */
export class FilterPolicyError extends Error {
  readonly explained: string

  constructor(message: string, explained = message) {
    super(message)
    this.name = 'FilterPolicyError'
    this.explained = explained
  }
}

/** SNS's text for most limits. It does not name the limit. */
export const TOO_COMPLEX = 'Filter policy is too complex'

export interface Limit {
  /** The counted part, such as keys. A policy may have at most `max` of them. */
  what: string
  max: number
  /** The text of the refusal. */
  text: string
  /** AWS was observed to answer with exactly this text. */
  isRecorded?: true
}

/** Throws FilterPolicyError if `found` exceeds the limit. */
export function holdTo({ what, max, text, isRecorded }: Limit, found: number): void {
  if (found <= max) return
  const explained = `${text}: found ${found} ${what}, the limit is ${max}`
  throw new FilterPolicyError(isRecorded ? text : explained, explained)
}
