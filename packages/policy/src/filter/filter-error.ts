/**
 * A filter policy that is refused. The message is SNS's own text, without the prefix of the operation (checklist 93 to
 * 98, 100). `explained` says more where SNS's text does not.
 */
export class FilterPolicyError extends Error {
  readonly explained: string

  constructor(message: string, explained = message) {
    super(message)
    this.name = 'FilterPolicyError'
    this.explained = explained
  }
}

/** SNS's text for most limits; it does not say which. */
export const TOO_COMPLEX = 'Filter policy is too complex'

export interface Limit {
  /** The thing that a policy may have at most `max` of. */
  what: string
  max: number
  /** The refusal's text if the policy exceeds it. */
  text: string
  /** SNS answers with this text and nothing else. */
  isRecorded?: true
}

/** Throws FilterPolicyError where the limit is passed. */
export function holdTo({ what, max, text, isRecorded }: Limit, found: number): void {
  if (found <= max) return
  const explained = `${text}: found ${found} ${what}, the limit is ${max}`
  throw new FilterPolicyError(isRecorded ? text : explained, explained)
}
