/** Makes a sentence for operators from a verdict. Programs read the code and the facts of the verdict. */
import type { SubscriptionRecord, VerdictCode } from '@fantail/contracts'
import type { LaneFigures } from '../records/lane-records.ts'

export interface VerdictFacts {
  lastStatusCode: number | null
  lastError: string | null
  failedInARow: number
  /** null: unknown. */
  arrivalsPerSecond: number | null
  /** null: no attempt ended lately. */
  attemptsPerSecond: number | null
  /** When the first waiting delivery will be too old. null: no delivery waits. */
  firstExpiresAt: number | null
  /** The FIFO group whose first message fails while others wait behind it. null: there is none. */
  blockedGroup: string | null
  /** That first message. */
  blockingMessageId: string | null
}

export interface Verdict {
  code: VerdictCode
  /** null: unknown, or nothing is wrong. */
  since: number | null
  sentence: string
  facts: VerdictFacts
}

interface Said extends Omit<Verdict, 'sentence'> {
  figures: LaneFigures
  subscription: Pick<SubscriptionRecord, 'pausedBecause'>
  now: number
}

export function verdictSentence(said: Said): string {
  const { next, expires } = aftermath(said)
  const sentences = [SENTENCES[said.code](said), next, expires].filter((text) => text !== undefined)
  return sentences.map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`).join(' ')
}

const SENTENCES: Record<VerdictCode, (said: Said) => string> = {
  gone: (said) => `the endpoint answered 410, so the subscription is paused; ${waits(said)}`,
  paused: (said) => `the subscription is paused${failedForDays(said)}; ${waits(said)}`,
  pending: () => 'the endpoint has not confirmed the subscription, so it gets no messages',
  misconfigured: (said) =>
    said.figures.lacksKey
      ? `the service lacks the key that opens some sealed messages; ${waits(said)}`
      : `the service’s own configuration keeps attempts from the endpoint; ${waits(said)} and no attempt is counted`,
  noToken: (said) =>
    `the token server of the endpoint cannot be reached or refuses a token; ${waits(said)} and no attempt is counted`,
  dlqMissing: (said) =>
    `the dead-letter queue does not exist, so dead deliveries wait for it; ${waits(said)}`,
  endpointDisabled: () => 'the push provider has disabled the endpoint, so its deliveries fail at once',
  queueMissing: (said) =>
    `the queue to which it delivers did not exist at the latest attempt; ${waits(said)}`,
  queueRefuses: (said) => `the queue to which it delivers refuses its messages; ${waits(said)}`,
  quarantined: (said) => `messages for it are in the quarantine and need an operator; ${waits(said)}`,
  circuitOpen: (said) => `the circuit is open${afterFailures(said)}; ${waits(said)}`,
  failing: (said) => `the last ${failures(said)}; ${waits(said)}`,
  hung: (said) => `attempts get no answer in time; ${waits(said)}`,
  groupBlocked: ({ figures: { blockedGroup: blocked } }) =>
    `group ${blocked?.group} waits for its message ${blocked?.messageId}, which fails; ` +
    `${waitsOf(blocked?.behind ?? 0)} behind it`,
  tooSlowIn: (said) =>
    `${waits(said)}, as ${perSecond(arrivals(said))} come in and ${perSecond(out(said))} go out`,
  throttled: (said) =>
    said.figures.rate === null
      ? `${waits(said)}, for the throttle of ${groupsOf(said)}`
      : `${waits(said)} for the throttle of ${perSecond(out(said))}`,
  undispatched: (said) => `published messages wait for a worker; ${waits(said)} in this lane`,
  catchingUp: (said) => `${waits(said)}, and nothing is wrong`,
  fine: ({ figures }) =>
    figures.waiting + figures.inFlight === 0 ? 'nothing waits' : 'deliveries are on their way',
}

/** Codes whose sentence also has the time of the next attempt and of the first expiry. */
const LASTING = new Set<VerdictCode>([
  'failing',
  'hung',
  'circuitOpen',
  'misconfigured',
  'noToken',
  'dlqMissing',
  'queueMissing',
  'queueRefuses',
  'groupBlocked',
])

function aftermath({ code, figures, facts, now }: Said): { next?: string; expires?: string } {
  const { nextAttemptAt } = figures
  const { firstExpiresAt } = facts
  const lasts = LASTING.has(code) || code === 'paused' || code === 'gone' || code === 'tooSlowIn'
  return {
    ...(LASTING.has(code) &&
      nextAttemptAt !== null && { next: `the next attempt is ${inTime(nextAttemptAt - now)}` }),
    ...(lasts && firstExpiresAt !== null && { expires: `the first expires ${inTime(firstExpiresAt - now)}` }),
  }
}

let format: Intl.NumberFormat | undefined

/** The first format of a process loads the languages, which takes a twentieth of a start. */
function whole(number: number): string {
  format ??= new Intl.NumberFormat('en')
  return format.format(number)
}

function waits({ figures }: Said): string {
  return waitsOf(figures.waiting)
}

function waitsOf(waiting: number): string {
  if (waiting === 0) return 'nothing waits'
  return waiting === 1 ? '1 delivery waits' : `${whole(waiting)} deliveries wait`
}

function groupsOf({ figures: { groupsThrottled = 1 } }: Said): string {
  return groupsThrottled === 1 ? 'a message group' : `${whole(groupsThrottled)} message groups`
}

function failedForDays({ subscription }: Said): string {
  return subscription.pausedBecause === 'failing' ? ', because all attempts of some days had failed' : ''
}

function failures({ facts }: Said): string {
  const { failedInARow: times, lastStatusCode: status, lastError } = facts
  const attempts = times === 1 ? 'attempt failed' : `${whole(times)} attempts failed`
  const how = status ?? lastError
  return how === null ? attempts : `${attempts}, the latest with ${how}`
}

function afterFailures(said: Said): string {
  const { failedInARow: times, lastStatusCode: status, lastError } = said.facts
  if (times === 0) return ''
  const how = status ?? lastError
  const attempts = times === 1 ? 'a failed attempt' : `${whole(times)} failed attempts`
  return ` after ${attempts}${how === null ? '' : `, ${times === 1 ? '' : 'the latest '}with ${how}`}`
}

function arrivals({ facts }: Said): number {
  return facts.arrivalsPerSecond ?? 0
}

function out({ figures, facts }: Said): number {
  return figures.rate ?? facts.attemptsPerSecond ?? 0
}

function perSecond(rate: number): string {
  return `${Number(rate.toPrecision(3))}/s`
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const

function inTime(ms: number): string {
  if (ms < 1_000) return 'now'
  const unit = UNITS.find(([, length]) => ms >= length)
  return unit ? `in ${Math.round(ms / unit[1])} ${unit[0]}` : `in ${Math.round(ms / 1_000)} s`
}
