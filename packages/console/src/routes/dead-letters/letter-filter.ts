/** Which dead letters a screen or an action is about. The address has it, so every action works on what it matches. */

const REASONS = ['permanent', 'retriesExhausted', 'expired', 'outcomeUnknown'] as const

export interface LetterFilter {
  reason?: (typeof REASONS)[number] | undefined
  statusCode?: number | undefined
  subscription?: string | undefined
}

export function readFilter(search: {
  reason?: string
  statusCode?: string
  subscription?: string
}): LetterFilter {
  const reason = REASONS.find((name) => name === search.reason)
  const statusCode = /^\d{3}$/.test(search.statusCode ?? '') ? Number(search.statusCode) : undefined
  return { reason, statusCode, subscription: search.subscription }
}

/** `reason retriesExhausted, statusCode 503`; empty: everything. */
export function describeFilter(filter: LetterFilter): string {
  return Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}
