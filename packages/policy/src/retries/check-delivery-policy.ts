/**
 * Checks a delivery policy by SNS's rules (checklist 8 to 17), or by those of the native API. It reports every problem
 * at once, with path and bound, and in SNS's words if they are known. `parseDeliveryPolicy` then makes the stored form
 * of a valid policy.
 *
 * The native API also accepts a part of the retry group, a preset, delays up to the longest retention, statuses to
 * retry on, and throttles below one request a second.
 */
import {
  type DeliveryPolicy,
  isObject,
  type Problem,
  RETENTION_SECONDS_MAX,
  type RetryPolicy,
  SYSTEM_POLICY,
} from '@fantail/contracts'
import { retryOnProblem } from '../protocols/retry-on.ts'
import { type ContentTypes, contentTypeProblem } from './content-types.ts'
import { PRESETS, presetOf } from './presets.ts'
import { BACKOFF, totalRetrySeconds } from './retry-curve.ts'

export interface PolicyCheck {
  /** Where the policy is in its request, e.g. `deliveryPolicy`. */
  path: string
  /** Bound on the sum of the nominal delays, if SNS's rules apply. Absent: the rules of the native API apply. */
  maxRetrySeconds?: number
  contentTypes: ContentTypes
}

/** @limit Retries of a delivery policy. Past it: the policy is refused. */
const NUM_RETRIES_MAX = 100
/**
 * SNS's own limit of one delay. Another limit bounds the sum of all delays.
 * @limit One delay of a delivery policy over the AWS protocols. Past it: the policy is refused.
 */
const DELAY_TARGET_SECONDS_MAX = 3_600
/** @limit Requests per second of a throttle in the native API. Below it: the policy is refused. */
const RECEIVES_PER_SECOND_MIN = 0.001

interface Range {
  min: number
  max?: number
  required?: true
  fractions?: true
}

type RetryNumbers = Omit<RetryPolicy, 'backoffFunction' | 'retryOn'>

const RETRY_RANGES: Record<keyof RetryNumbers, Range> = {
  minDelayTarget: { min: 1, required: true },
  maxDelayTarget: { min: 1, max: DELAY_TARGET_SECONDS_MAX, required: true },
  numRetries: { min: 0, max: NUM_RETRIES_MAX, required: true },
  numNoDelayRetries: { min: 0 },
  numMinDelayRetries: { min: 0 },
  numMaxDelayRetries: { min: 0 },
}

const NATIVE_RETRY_RANGES: Record<keyof RetryNumbers, Range> = {
  ...RETRY_RANGES,
  minDelayTarget: { min: 1, max: RETENTION_SECONDS_MAX },
  maxDelayTarget: { min: 1, max: RETENTION_SECONDS_MAX },
  numRetries: { min: 0, max: NUM_RETRIES_MAX },
}
const SNS_RETRY_MEMBERS = [...Object.keys(RETRY_RANGES), 'backoffFunction']
const NATIVE_RETRY_MEMBERS = [...SNS_RETRY_MEMBERS, 'preset', 'retryOn']

/** Old members of SNS's document. They are accepted with any value, have no effect, and are not stored. */
const IGNORED = new Set(['sicklyRetryPolicy', 'guaranteed'])
const GROUPS = new Set(['healthyRetryPolicy', 'throttlePolicy', 'requestPolicy', ...IGNORED])

type Members = Record<string, unknown>
type Report = (problem: Problem) => void

/** Every problem of `policy`. null means no policy, and a null group means no group. */
export function checkDeliveryPolicy(policy: unknown, check: PolicyCheck): Problem[] {
  const problems: Problem[] = []
  const report: Report = (problem) => problems.push(problem)
  const groups = membersOf(policy, { path: check.path, known: GROUPS, report })
  if (!groups) return problems
  checkRetries(groups.healthyRetryPolicy, check, report)
  checkThrottle(groups.throttlePolicy, check, report)
  checkRequest(groups.requestPolicy, check, report)
  return problems
}

/**
 * The stored form of a policy without problems: the groups that are set, as they were given. A preset is replaced by
 * its numbers.
 */
export function parseDeliveryPolicy(policy: unknown): DeliveryPolicy | null {
  if (policy === null || policy === undefined) return null
  // The check of the whole subscription comes later. It refuses what is no object.
  if (!isObject(policy)) return policy as DeliveryPolicy
  const kept = Object.entries(policy).filter(([name, group]) => group !== null && !IGNORED.has(name))
  const { healthyRetryPolicy, ...others } = structuredClone(Object.fromEntries(kept)) as Members
  if (healthyRetryPolicy === undefined) return others as DeliveryPolicy
  return { healthyRetryPolicy: withoutPreset(healthyRetryPolicy as Members), ...others } as DeliveryPolicy
}

function withoutPreset({ preset, ...members }: Members): Members {
  return { ...presetOf(preset)?.policy, ...members }
}

function checkRetries(group: unknown, check: PolicyCheck, report: Report): void {
  const path = `${check.path}.healthyRetryPolicy`
  const native = check.maxRetrySeconds === undefined
  const known = new Set(native ? NATIVE_RETRY_MEMBERS : SNS_RETRY_MEMBERS)
  const found: Problem[] = []
  const members = membersOf(group, { path, known, report: (problem) => found.push(problem) })
  if (members) {
    for (const [name, range] of Object.entries(native ? NATIVE_RETRY_RANGES : RETRY_RANGES)) {
      const message = numberProblem(members[name], range)
      if (message) found.push({ path: `${path}.${name}`, message })
    }
    const backoff = backoffProblem(members.backoffFunction)
    if (backoff) found.push({ path: `${path}.backoffFunction`, message: backoff })
    if (native) found.push(...nativeProblems(members, path))
    found.push(...crossProblems(members, path, native))
    // The sum is meaningless if one of its members is wrong.
    if (found.length === 0) found.push(...totalProblems(members, path, check.maxRetrySeconds))
  }
  found.forEach(report)
}

function nativeProblems({ preset, retryOn }: Members, path: string): Problem[] {
  const problems: Problem[] = []
  if (preset !== undefined && !presetOf(preset)) {
    problems.push({ path: `${path}.preset`, message: `must be one of ${Object.keys(PRESETS).join(', ')}` })
  }
  const message = retryOnProblem(retryOn)
  if (message) problems.push({ path: `${path}.retryOn`, message })
  return problems
}

/** The values for members that are not given: the preset's, else the system's. */
function restOf({ preset }: Members): RetryPolicy {
  return presetOf(preset)?.policy ?? SYSTEM_POLICY.healthyRetryPolicy
}

function crossProblems(members: Members, path: string, native: boolean): Problem[] {
  const rest = restOf(members)
  const number = (name: keyof RetryNumbers) => {
    const value = members[name] ?? rest[name]
    return typeof value === 'number' ? value : Number.NaN
  }
  const phases = number('numNoDelayRetries') + number('numMinDelayRetries') + number('numMaxDelayRetries')
  const problems: Problem[] = []
  // By SNS's rules a missing member is a problem already. Comparing its default would report it twice.
  const given = (name: string) => native || name in members
  if (given('minDelayTarget') && given('maxDelayTarget')) {
    if (number('maxDelayTarget') < number('minDelayTarget')) problems.push(delayProblem(members, path, rest))
  }
  if (given('numRetries') && number('numRetries') < phases) {
    const message =
      'must be greater than or equal to total of numMinDelayRetries, numNoDelayRetries and numMaxDelayRetries'
    problems.push({ path: `${path}.numRetries`, message })
  }
  return problems
}

/** The problem names a member that was given. If the other one was not given, the text states its value. */
function delayProblem(members: Members, path: string, rest: RetryPolicy): Problem {
  if ('maxDelayTarget' in members) {
    const other = 'minDelayTarget' in members ? '' : `, which is ${rest.minDelayTarget} unless given`
    return {
      path: `${path}.maxDelayTarget`,
      message: `must be greater than or equal to minDelayTarget${other}`,
    }
  }
  const message = `must be less than or equal to maxDelayTarget, which is ${rest.maxDelayTarget} unless given`
  return { path: `${path}.minDelayTarget`, message }
}

function totalProblems(members: Members, path: string, maxRetrySeconds: number | undefined): Problem[] {
  const { preset: _, ...given } = members
  const total = totalRetrySeconds({ ...restOf(members), ...(given as Partial<RetryPolicy>) })
  const max = maxRetrySeconds ?? RETENTION_SECONDS_MAX
  if (total <= max) return []
  const message =
    `must delay retries by less than or equal to ${max} seconds in total, not ${total}` +
    (maxRetrySeconds === undefined ? '' : '; FANTAIL_MAX_RETRY_SECONDS sets this limit')
  return [{ path, message }]
}

function checkThrottle(group: unknown, check: PolicyCheck, report: Report): void {
  const path = `${check.path}.throttlePolicy`
  const members = membersOf(group, { path, known: new Set(['maxReceivesPerSecond']), report })
  if (!members) return
  const message = throttleProblem(members.maxReceivesPerSecond, check)
  if (message) report({ path: `${path}.maxReceivesPerSecond`, message })
}

const WHOLE_OR_BELOW_ONE = 'must be a whole number from 1 on, or less than 1'

/** By SNS's rules, a whole number of at least one request a second. */
function throttleProblem(value: unknown, { maxRetrySeconds }: PolicyCheck): string | undefined {
  const native = maxRetrySeconds === undefined
  const isFraction = native && typeof value === 'number' && value < 1
  if (isFraction) return numberProblem(value, { min: RECEIVES_PER_SECOND_MIN, fractions: true })
  if (native && typeof value === 'number' && !Number.isInteger(value)) return WHOLE_OR_BELOW_ONE
  return numberProblem(value, { min: 1, required: true })
}

function checkRequest(group: unknown, check: PolicyCheck, report: Report): void {
  const path = `${check.path}.requestPolicy`
  const members = membersOf(group, { path, known: new Set(['headerContentType']), report })
  if (!members) return
  const value = members.headerContentType
  const message = value === undefined ? 'must be specified' : contentTypeProblem(value, check.contentTypes)
  if (message) report({ path: `${path}.headerContentType`, message })
}

interface Shape {
  path: string
  known: Set<string>
  report: Report
}

/** The object's members. Undefined if nothing is given, or if it is not an object, which is reported. */
function membersOf(value: unknown, { path, known, report }: Shape): Members | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) {
    report({ path, message: 'must be a JSON object' })
    return undefined
  }
  for (const name of Object.keys(value)) {
    if (!known.has(name)) report({ path: `${path}.${name}`, message: `Unexpected JSON member: ${name}` })
  }
  return value as Members
}

function numberProblem(value: unknown, { min, max, required, fractions }: Range): string | undefined {
  if (value === undefined) return required ? 'must be specified' : undefined
  if (!fractions && !Number.isSafeInteger(value)) return 'must be an integer'
  const number = value as number
  if (number < min) return `must be greater than or equal to ${min}`
  if (max !== undefined && number > max) return `must be less than or equal to ${max}`
  return undefined
}

function backoffProblem(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && Object.hasOwn(BACKOFF, value)) return undefined
  return `must be one of ${Object.keys(BACKOFF).join(', ')}`
}
