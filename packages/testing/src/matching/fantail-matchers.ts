/** Matchers for `expect.extend` of vitest and jest. */
import { inspect } from 'node:util'
import { VerifyError } from '@fantail/client'
import type { RecordedRequest } from '../receiving/recorded-request.ts'
import type { RequestView } from '../receiving/request-view.ts'

/** The members that requests must have. A member that is missing here is not compared. */
export interface ExpectedRequest extends ExpectedTimes {
  /** The number of such requests. Default: at least one. */
  times?: number
  /** The published content. Objects may have further members, and texts may be given by a RegExp. */
  message?: unknown
  /** Attributes of the message, by name. */
  attributes?: Record<string, unknown>
  /** Headers by name. Upper and lower case do not matter. */
  headers?: Record<string, unknown>
  method?: string
  path?: string
  messageId?: string
  subscriptionId?: string
}

type Wanted = Omit<ExpectedRequest, 'times' | keyof ExpectedTimes>

export interface MatcherResult {
  pass: boolean
  message(): string
}

/** Requests that the message of a failed matcher shows. Past it: only the latest. */
const REQUESTS_SHOWN_MAX = 20
const VALUE_CHARS_SHOWN = 500

export const fantailMatchers = {
  /** The matcher for a receiver or one of its paths. */
  toHaveReceived(received: unknown, expected: ExpectedRequest = {}): MatcherResult {
    const view = viewOf(received)
    const { times, atSeconds, toleranceSeconds, ...wanted } = expected
    const found = view.requests.filter((request) => isWanted(request, wanted))
    const isCount = times === undefined ? found.length > 0 : found.length === times
    const arrivals = {
      ...(atSeconds && { atSeconds }),
      ...(toleranceSeconds !== undefined && { toleranceSeconds }),
    }
    const pass = isCount && areInTime(found, arrivals)
    const count = times === undefined ? 'a request' : `${times} requests`
    const when = atSeconds === undefined ? '' : ` at ${atSeconds.join(', ')} s`
    const message = () =>
      [
        `${view.url} should ${pass ? 'not ' : ''}have received ${count} like ${shown(wanted)}${when}`,
        `${found.length} of ${view.requests.length} requests are like that${timesText(found, atSeconds)}:`,
        ...view.requests.slice(-REQUESTS_SHOWN_MAX).map(requestText),
      ].join('\n')
    return { pass, message }
  },

  toHaveReceivedNothing(received: unknown): MatcherResult {
    const { url, requests } = viewOf(received)
    const lines = requests.slice(-REQUESTS_SHOWN_MAX).map(requestText)
    const message = () => [`${url} received ${requests.length} requests:`, ...lines].join('\n')
    return { pass: requests.length === 0, message }
  },

  /** The matcher for a request, or for every request of a receiver or path. At least one request must have arrived. */
  async toBeSignedBy(received: unknown, keys: string | readonly string[]): Promise<MatcherResult> {
    const requests = isRequest(received) ? [received] : viewOf(received).requests
    if (requests.length === 0) return { pass: false, message: () => 'there is no request' }
    const problems = await Promise.all(requests.map((request) => signatureProblem(request, keys)))
    const wrong = problems.filter((problem) => problem !== undefined)
    const message = () =>
      wrong.length > 0 ? wrong.join('\n') : `${requests.length} requests are signed by the key`
    return { pass: wrong.length === 0, message }
  },
}

/** A receiver is recognised by its members, because the CommonJS form of jest's entry has separate classes. */
function viewOf(received: unknown): RequestView {
  const { url, requests } = (received ?? {}) as Partial<RequestView>
  if (typeof url === 'string' && Array.isArray(requests)) return received as RequestView
  throw new TypeError(`expected a receiver or one of its paths, not ${shown(received)}`)
}

function isRequest(received: unknown): received is RecordedRequest {
  const { verify, body } = (received ?? {}) as Partial<RecordedRequest>
  return typeof verify === 'function' && body instanceof Uint8Array
}

function isWanted(request: RecordedRequest, { headers, ...wanted }: Wanted): boolean {
  const names = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  // Members of a request are getters of its class, so they are read one by one.
  const hasOthers = Object.entries(wanted).every(
    ([name, value]) => value === undefined || isLike(request[name as keyof typeof wanted], value),
  )
  return hasOthers && isLike(request.headers, Object.fromEntries(names))
}

async function signatureProblem(
  request: RecordedRequest,
  keys: string | readonly string[],
): Promise<string | undefined> {
  try {
    await request.verify(keys)
    return undefined
  } catch (error) {
    if (!(error instanceof VerifyError) || error.code === 'wrong_key') throw error
    return `${request}: ${error.code}: ${error.message}`
  }
}

function timesText(found: readonly RecordedRequest[], atSeconds: readonly number[] | undefined): string {
  if (atSeconds === undefined) return ''
  const seconds = secondsOf(found).slice(-REQUESTS_SHOWN_MAX)
  return `, at ${seconds.map((at) => at.toFixed(1)).join(', ')} s`
}

function requestText(request: RecordedRequest): string {
  return `  ${request} ${shown(request.message)}`
}

function shown(value: unknown): string {
  const text = inspect(value, { depth: 5, breakLength: Number.POSITIVE_INFINITY })
  return text.length > VALUE_CHARS_SHOWN ? `${text.slice(0, VALUE_CHARS_SHOWN)}…` : text
}

interface ExpectedTimes {
  /**
   * When each request came, in seconds of the stack's time since the message of the first request was published. A
   * request without a message id counts from its own time.
   */
  atSeconds?: readonly number[]
  /** By how much a time may differ. Default: 1. */
  toleranceSeconds?: number
}

const ARRIVAL_TOLERANCE_S = 1

/** Seconds since the publication of the first request's message. */
function secondsOf(requests: readonly RecordedRequest[]): number[] {
  const [first] = requests
  if (!first) return []
  const from = publishedAt(first.messageId) ?? first.time.getTime()
  return requests.map(({ time }) => (time.getTime() - from) / 1_000)
}

function areInTime(
  requests: readonly RecordedRequest[],
  { atSeconds, toleranceSeconds = ARRIVAL_TOLERANCE_S }: ExpectedTimes,
): boolean {
  if (atSeconds === undefined) return true
  const seconds = secondsOf(requests)
  const isNear = (wanted: number, i: number) =>
    Math.abs((seconds[i] ?? Number.NaN) - wanted) <= toleranceSeconds
  return seconds.length === atSeconds.length && atSeconds.every(isNear)
}

/** The id of a message is a UUIDv7, which begins with the ms of its publication. */
function publishedAt(messageId: string | undefined): number | undefined {
  const ms = Number.parseInt((messageId ?? '').replaceAll('-', '').slice(0, 12), 16)
  return Number.isNaN(ms) ? undefined : ms
}

/** Asymmetric matchers of vitest and jest may stand for received content. */
interface Asymmetric {
  asymmetricMatch(actual: unknown): boolean
}

/** Whether the content is as expected. Objects may have further members. Lists must have the same length. */
function isLike(actual: unknown, expected: unknown): boolean {
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual)
  if (expected instanceof RegExp) return typeof actual === 'string' && expected.test(actual)
  if (Array.isArray(expected)) {
    const isSameLength = Array.isArray(actual) && actual.length === expected.length
    return isSameLength && expected.every((item, index) => isLike(actual[index], item))
  }
  if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected)
  if (typeof actual !== 'object' || actual === null) return false
  const members = actual as Record<string, unknown>
  return Object.entries(expected).every(([name, value]) => isLike(members[name], value))
}

function isAsymmetric(value: unknown): value is Asymmetric {
  return typeof (value as Partial<Asymmetric> | null | undefined)?.asymmetricMatch === 'function'
}
