/** Settings of a client: the caller's, or else the environment's, or else the defaults. */
import { FantailError } from '../failures/client-error.ts'

export type RetryMode = 'standard' | 'adaptive'

/** The argument of `onAttempt`, which is called after each request. */
export interface Attempt {
  method: string
  /** The operation's path, with names instead of values: `/v1/topics/{topic}/messages`. */
  path: string
  /** 1 for the first one. */
  attempt: number
  durationMs: number
  /** undefined: no answer came. */
  status: number | undefined
  requestId: string | undefined
  /** undefined: it succeeded. */
  error: FantailError | undefined
  /** The time until the next attempt, undefined if this was the last one. */
  retryInMs: number | undefined
}

export interface FantailOptions {
  /** Where the API is. Default: `FANTAIL_URL`, in a browser the page's origin, else `http://127.0.0.1:4100`. */
  url?: string | undefined
  /** Default: `FANTAIL_API_KEY`. A function is called before each attempt, so it may return a new key. */
  apiKey?: string | (() => string | Promise<string>) | undefined
  /** Requests per call at most. Default: `FANTAIL_MAX_ATTEMPTS`, `AWS_MAX_ATTEMPTS`, 3. */
  maxAttempts?: number | undefined
  /** Default: `FANTAIL_RETRY_MODE`, `AWS_RETRY_MODE`, standard. `legacy` means standard. */
  retryMode?: RetryMode | 'legacy' | undefined
  /** The behaviour of a retry if the quota of retries is used up. Default: `fail`. */
  emptyQuota?: 'fail' | 'wait' | undefined
  /** The behaviour of a request if adaptive mode allows none now. Default: `wait`. */
  reachedRate?: 'fail' | 'wait' | undefined
  /** How long one attempt may take. Default: 30,000. */
  timeoutMs?: number | undefined
  /** How long a whole call may take, with its retries and waits. Default: unlimited. */
  deadlineMs?: number | undefined
  /** If `Retry-After` asks for a longer wait, the call ends with an error that contains it. Default: 60,000. */
  retryAfterMsMax?: number | undefined
  /** W3C `traceparent` of the current trace. Published messages carry it to subscribers. */
  traceparent?: (() => string | undefined) | undefined
  /** Headers of every request. */
  headers?: Record<string, string> | undefined
  onAttempt?: ((attempt: Attempt) => void) | undefined
  /** Sends the requests. Default: the platform's. */
  fetch?: typeof globalThis.fetch | undefined
}

export interface ClientSettings extends FantailOptions {
  url: string
  apiKey: FantailOptions['apiKey']
  maxAttempts: number
  retryMode: RetryMode
  emptyQuota: 'fail' | 'wait'
  reachedRate: 'fail' | 'wait'
  timeoutMs: number
  retryAfterMsMax: number
}

type Environment = Record<string, string | undefined>

const DEFAULT_URL = 'http://127.0.0.1:4100'
const DEFAULT_ATTEMPTS = 3
/** Timeout of an attempt if the client has no setting for it. Past it: the attempt failed, and may be retried. */
const ATTEMPT_TIMEOUT_MS = 30_000
const RETRY_AFTER_MS = 60_000
/** Longest wait of a timer in JavaScript. Past it: the setting is refused. */
const TIMER_MS_MAX = 2_147_483_647

export function readSettings(options: FantailOptions, environment = processEnvironment()): ClientSettings {
  const named = (option: string, given: unknown, ...variables: string[]): Named => {
    const variable = given === undefined ? variables.find((name) => environment[name]) : undefined
    return { name: variable ?? option, value: variable ? environment[variable] : given }
  }
  return {
    ...options,
    url: readUrl(named('url', options.url, 'FANTAIL_URL')),
    apiKey: readKey(named('apiKey', options.apiKey, 'FANTAIL_API_KEY')),
    maxAttempts: readWhole(
      named('maxAttempts', options.maxAttempts, 'FANTAIL_MAX_ATTEMPTS', 'AWS_MAX_ATTEMPTS'),
      DEFAULT_ATTEMPTS,
    ),
    retryMode: readMode(named('retryMode', options.retryMode, 'FANTAIL_RETRY_MODE', 'AWS_RETRY_MODE')),
    emptyQuota: readChoice(named('emptyQuota', options.emptyQuota), ['fail', 'wait']),
    reachedRate: readChoice(named('reachedRate', options.reachedRate), ['wait', 'fail']),
    timeoutMs: readWhole(named('timeoutMs', options.timeoutMs), ATTEMPT_TIMEOUT_MS),
    deadlineMs: readOptional(named('deadlineMs', options.deadlineMs)),
    retryAfterMsMax: readWhole(named('retryAfterMsMax', options.retryAfterMsMax), RETRY_AFTER_MS),
  }
}

interface Named {
  /** The name of the option or variable that has the value. */
  name: string
  value: unknown
}

function refuse({ name, value }: Named, must: string): never {
  const said = name === 'apiKey' || name === 'FANTAIL_API_KEY' ? '' : `, not ${JSON.stringify(value)}`
  throw new FantailError('invalid_setting', `${name} must be ${must}${said}`)
}

function readUrl(given: Named): string {
  const text = given.value ?? pageOrigin() ?? DEFAULT_URL
  if (typeof text !== 'string' || !/^https?:\/\/[^/]/.test(text) || !URL.canParse(text)) {
    return refuse(given, 'an http or https URL')
  }
  const { username, password, search, hash } = new URL(text)
  if (username || password || search || hash) {
    return refuse({ ...given, value: '…' }, 'a URL without user, password, query and fragment')
  }
  return text.replace(/\/+$/, '')
}

/** undefined outside of pages. */
function pageOrigin(): string | undefined {
  const { location } = globalThis as { location?: { origin?: string } }
  return /^https?:/.test(location?.origin ?? '') ? location?.origin : undefined
}

const KEY = /^[\x21-\x7e]+$/

function readKey(given: Named): FantailOptions['apiKey'] {
  const { value } = given
  if (value === undefined || typeof value === 'function') return value as FantailOptions['apiKey']
  if (typeof value === 'string' && KEY.test(value)) return value
  return refuse(given, 'visible ASCII characters')
}

function readWhole(given: Named, byDefault: number): number {
  const { value } = given
  if (value === undefined) return byDefault
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number > 0 && number <= TIMER_MS_MAX) {
    return number
  }
  return refuse(given, `a whole number from 1 to ${TIMER_MS_MAX}`)
}

function readOptional(given: Named): number | undefined {
  return given.value === undefined ? undefined : readWhole(given, 0)
}

function readMode(given: Named): RetryMode {
  const { value = 'standard' } = given
  if (value === 'legacy') return 'standard'
  return readChoice({ ...given, value }, ['standard', 'adaptive'], 'standard, adaptive or legacy')
}

function readChoice<T extends string>(given: Named, choices: readonly [T, T], must?: string): T {
  const { value = choices[0] } = given
  const found = choices.find((choice) => choice === value)
  return found ?? refuse(given, must ?? choices.join(' or '))
}

/** The environment's variables. Empty in browsers, and in Deno without the permission to read variables. */
function processEnvironment(): Environment {
  const { process } = globalThis as { process?: { env?: Environment } }
  try {
    const env = process?.env ?? {}
    const names = ['URL', 'API_KEY', 'MAX_ATTEMPTS', 'RETRY_MODE'].map((name) => `FANTAIL_${name}`)
    return Object.fromEntries(
      [...names, 'AWS_MAX_ATTEMPTS', 'AWS_RETRY_MODE'].map((name) => [name, env[name]]),
    )
  } catch {
    return {}
  }
}
