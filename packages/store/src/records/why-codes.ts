/**
 * The stored form of a cause and its delay, in retry states and entries of the outcome log: a letter, then the
 * milliseconds in base 36. A day takes six characters.
 */
import type { RetryCause, StoredWhy, WaitCause } from '@fantail/contracts'

type StoredCause = RetryCause | WaitCause

/** Scripts use `n` (retry-lane-now-1.lua) and the letters of a waiting lane (read-delivery-states-1.lua). */
const LETTERS: Record<StoredCause, string> = {
  immediate: 'i',
  preBackoff: 'e',
  backoff: 'b',
  postBackoff: 'o',
  retryAfter: 'r',
  retryNow: 'n',
  redrive: 'd',
  resend: 'a',
  throttle: 't',
  serviceLimit: 'f',
  circuitOpen: 'c',
  retryQuota: 'q',
  unprovenEndpoint: 'u',
  capacity: 'w',
  paused: 'p',
  gone: 'y',
  dlqMissing: 'm',
  misconfigured: 'x',
  noToken: 'k',
  groupOrder: 'g',
  isolated: 's',
  leasesEnded: 'l',
}

const CAUSES = new Map(
  Object.entries(LETTERS).map(([cause, letter]) => [letter, cause as StoredCause] as const),
)

const STORED = /^([a-z])([0-9a-z]*)$/

export function packWhy({ cause, delayMs }: StoredWhy): string {
  const delay = delayMs === null ? '' : Math.max(0, Math.round(delayMs)).toString(36)
  return LETTERS[cause] + delay
}

/** undefined: this release does not know the text. */
export function unpackWhy(text: string): StoredWhy | undefined {
  const [, letter = '', delay] = STORED.exec(text) ?? []
  const cause = CAUSES.get(letter)
  return cause && { cause, delayMs: delay ? Number.parseInt(delay, 36) : null }
}

/** The cause that a script names by its letter. */
export function causeOf(letter: string): StoredCause | undefined {
  return CAUSES.get(letter)
}
