/**
 * Holds a delivery policy against SNS's rules (checklist 8 to 17) and names every problem at once, by path and
 * bound, in SNS's words where they are known. `parseDeliveryPolicy` then makes the stored form of one without problems.
 */
import { type DeliveryPolicy, type Problem, type RetryPolicy, SYSTEM_POLICY } from '@fantail/contracts'
import { type ContentTypes, contentTypeProblem } from './content-types.ts'
import { BACKOFF, totalRetrySeconds } from './retry-curve.ts'

export interface PolicyCheck {
  /** Where the policy stands in its request, e.g. `deliveryPolicy`. */
  path: string
  /** Bound on the sum of the nominal delays. */
  maxRetrySeconds: number
  contentTypes: ContentTypes
}

/** @limit Retries of a delivery policy. Past it: the policy is refused. */
const NUM_RETRIES_MAX = 100
/**
 * SNS's own limit of one delay. It does not limit the sum.
 * @limit One delay of a delivery policy. Past it: the policy is refused.
 */
const DELAY_TARGET_SECONDS_MAX = 3_600

interface Range {
  min: number
  max?: number
  required?: true
}

type RetryNumbers = Omit<RetryPolicy, 'backoffFunction'>

const RETRY_RANGES: Record<keyof RetryNumbers, Range> = {
  minDelayTarget: { min: 1, required: true },
  maxDelayTarget: { min: 1, max: DELAY_TARGET_SECONDS_MAX, required: true },
  numRetries: { min: 0, max: NUM_RETRIES_MAX, required: true },
  numNoDelayRetries: { min: 0 },
  numMinDelayRetries: { min: 0 },
  numMaxDelayRetries: { min: 0 },
}

/** Leftovers of SNS's document: taken with any value, never acted on, not stored. */
const IGNORED = new Set(['sicklyRetryPolicy', 'guaranteed'])
const GROUPS = new Set(['healthyRetryPolicy', 'throttlePolicy', 'requestPolicy', ...IGNORED])

type Members = Record<string, unknown>
type Report = (problem: Problem) => void

/** Every problem of `policy`, none where it may be stored; null stands for no policy, and a null group for no group. */
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
 * The stored form of a policy that `checkDeliveryPolicy` found no problem in: groups that are set, as they were given.
 */
export function parseDeliveryPolicy(policy: unknown): DeliveryPolicy | null {
  if (policy === null || policy === undefined) return null
  const groups = policy as Members
  const kept = Object.entries(groups).filter(([name, group]) => group !== null && !IGNORED.has(name))
  return structuredClone(Object.fromEntries(kept)) as DeliveryPolicy
}

function checkRetries(group: unknown, check: PolicyCheck, report: Report): void {
  const path = `${check.path}.healthyRetryPolicy`
  const known = new Set([...Object.keys(RETRY_RANGES), 'backoffFunction'])
  const found: Problem[] = []
  const members = membersOf(group, { path, known, report: (problem) => found.push(problem) })
  if (members) {
    for (const [name, range] of Object.entries(RETRY_RANGES)) {
      const message = numberProblem(members[name], range)
      if (message) found.push({ path: `${path}.${name}`, message })
    }
    const backoff = backoffProblem(members.backoffFunction)
    if (backoff) found.push({ path: `${path}.backoffFunction`, message: backoff })
    found.push(...crossProblems(members, path))
    // The sum means nothing while a member it is made of is wrong.
    if (found.length === 0) found.push(...totalProblems(members, path, check.maxRetrySeconds))
  }
  found.forEach(report)
}

function crossProblems(members: Members, path: string): Problem[] {
  const number = (name: keyof RetryNumbers) => {
    const value = members[name] ?? SYSTEM_POLICY.healthyRetryPolicy[name]
    return typeof value === 'number' ? value : Number.NaN
  }
  const phases = number('numNoDelayRetries') + number('numMinDelayRetries') + number('numMaxDelayRetries')
  const problems: Problem[] = []
  // A missing member is reported as such; held against its default it would be reported twice.
  if ('minDelayTarget' in members && 'maxDelayTarget' in members) {
    if (number('maxDelayTarget') < number('minDelayTarget')) {
      const message = 'must be greater than or equal to minDelayTarget'
      problems.push({ path: `${path}.maxDelayTarget`, message })
    }
  }
  if ('numRetries' in members && number('numRetries') < phases) {
    const message =
      'must be greater than or equal to total of numMinDelayRetries, numNoDelayRetries and numMaxDelayRetries'
    problems.push({ path: `${path}.numRetries`, message })
  }
  return problems
}

function totalProblems(members: Members, path: string, maxRetrySeconds: number): Problem[] {
  const total = totalRetrySeconds({
    ...SYSTEM_POLICY.healthyRetryPolicy,
    ...(members as Partial<RetryPolicy>),
  })
  if (total <= maxRetrySeconds) return []
  const message =
    `must delay retries by less than or equal to ${maxRetrySeconds} seconds in total, not ${total}; ` +
    'FANTAIL_MAX_RETRY_SECONDS sets this limit'
  return [{ path, message }]
}

function checkThrottle(group: unknown, check: PolicyCheck, report: Report): void {
  const path = `${check.path}.throttlePolicy`
  const members = membersOf(group, { path, known: new Set(['maxReceivesPerSecond']), report })
  if (!members) return
  const message = numberProblem(members.maxReceivesPerSecond, { min: 1, required: true })
  if (message) report({ path: `${path}.maxReceivesPerSecond`, message })
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

/** The object's members; undefined where nothing is given or where it is no object, which is reported. */
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

function numberProblem(value: unknown, { min, max, required }: Range): string | undefined {
  if (value === undefined) return required ? 'must be specified' : undefined
  if (!Number.isSafeInteger(value)) return 'must be an integer'
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
