/** RedrivePolicy and RedriveAllowPolicy: JSON texts inside an attribute's value (checklist 179). */
import {
  FantailError,
  isFifoName,
  objectOf,
  parseArn,
  QUEUE_MAX_RECEIVE_COUNT_MAX,
  type QueueRedrivePolicy,
  type RedriveAllowPolicy,
} from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { invalidValue, sqsError } from '../wire/sqs-error.ts'

const REDRIVE_MEMBERS = ['maxReceiveCount', 'deadLetterTargetArn']
/** @limit Source queues that a redrive allow policy names. Past it: the policy is refused. */
const SOURCE_ARNS_MAX = 10
const COUNT = /^\d{1,10}$/

/**
 * The policy of the queue `arn`. null: the text is empty, which removes the policy. Whether the target exists is not
 * checked here.
 */
export function parseRedrivePolicy(text: string, arn: string): QueueRedrivePolicy | null {
  if (text === '') return null
  const refuse = (reason: string) => invalidValue('RedrivePolicy', text, reason)
  const policy = objectOf(text)
  if (!policy) throw invalidAttribute('RedrivePolicy', 'Redrive policy is not a valid JSON map.')
  for (const name of REDRIVE_MEMBERS) {
    if (policy[name] === undefined) {
      throw refuse(`Redrive policy does not contain mandatory attribute: ${name}.`)
    }
  }
  const maxReceiveCount = receiveCount(policy.maxReceiveCount)
  if (maxReceiveCount === undefined) {
    const valid = `valid values are from 1 to ${QUEUE_MAX_RECEIVE_COUNT_MAX} both inclusive`
    throw refuse(`Invalid value for maxReceiveCount: ${shown(policy.maxReceiveCount)}, ${valid}.`)
  }
  if (Object.keys(policy).length > REDRIVE_MEMBERS.length) {
    throw refuse(`Only following attributes are supported: [${REDRIVE_MEMBERS.join(', ')}].`)
  }
  const deadLetterTargetArn = shown(policy.deadLetterTargetArn)
  const problem = targetProblem(deadLetterTargetArn, arn)
  if (problem !== undefined) throw refuse(problem)
  return { deadLetterTargetArn, maxReceiveCount }
}

/** A number, or its text. */
function receiveCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && COUNT.test(value) ? Number(value) : value
  if (typeof count !== 'number' || !Number.isInteger(count)) return undefined
  return count >= 1 && count <= QUEUE_MAX_RECEIVE_COUNT_MAX ? count : undefined
}

/** Problems that the ARN alone shows. */
function targetProblem(target: string, source: string): string | undefined {
  const [theirs, mine] = [parseArn(target), parseArn(source)]
  if (theirs === undefined) return 'Dead-letter target ARN should be fully qualified ARN.'
  if (theirs.service !== 'sqs') return 'Only SQS queues are valid resources for deadLetterTargetArn.'
  if (theirs.account !== mine?.account) return 'Dead letter target owner should be same as the source.'
  if (theirs.region !== mine.region) return 'Dead letter target region should be same as the source.'
  // The second full stop is Amazon's.
  if (isFifoName(theirs.name) !== isFifoName(mine.name))
    return 'Dead-letter queue must be same type of queue as the source..'
  return undefined
}

/** null: the text is empty, which removes the policy. */
export function parseRedriveAllowPolicy(text: string): RedriveAllowPolicy | null {
  if (text === '') return null
  const policy = allowPolicy(text)
  if (!policy) {
    const reason = "Amazon SQS can't create the redrive allow policy, as it\u2019s in an unsupported format."
    throw invalidAttribute('RedriveAllowPolicy', reason)
  }
  const problem = sourcesProblem(policy)
  if (problem === undefined) return policy
  const reason = `Amazon SQS can't create the redrive allow policy. ${problem}`
  throw invalidValue('RedriveAllowPolicy', text, reason)
}

function allowPolicy(text: string): RedriveAllowPolicy | undefined {
  const { redrivePermission, sourceQueueArns, ...rest } = objectOf(text) ?? {}
  if (!isPermission(redrivePermission) || Object.keys(rest).length > 0) return undefined
  // Infrastructure tools write null for a member that is not set.
  if (sourceQueueArns === undefined || sourceQueueArns === null) return { redrivePermission }
  return isTexts(sourceQueueArns) ? { redrivePermission, sourceQueueArns } : undefined
}

function sourcesProblem({ redrivePermission, sourceQueueArns }: RedriveAllowPolicy): string | undefined {
  const count = sourceQueueArns?.length ?? 0
  if (redrivePermission !== 'byQueue') {
    if (sourceQueueArns === undefined) return undefined
    return 'To specify one or more source queue ARNs, you must set redrivePermission to byQueue.'
  }
  if (count === 0)
    return 'When you specify the byQueue permission type, you must also specify one or more sourceQueueArns values.'
  return count <= SOURCE_ARNS_MAX
    ? undefined
    : `The maximum number of source queue ARNs you can specify is ${SOURCE_ARNS_MAX}.`
}

function isPermission(value: unknown): value is RedriveAllowPolicy['redrivePermission'] {
  return value === 'allowAll' || value === 'denyAll' || value === 'byQueue'
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** A text is shown as it is, other values as JSON. */
function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function invalidAttribute(name: string, reason?: string) {
  const why = reason === undefined ? '' : ` Reason: ${reason}`
  return sqsError('InvalidAttributeValue', `Invalid value for the parameter ${name}.${why}`)
}

/**
 * Gives SQS's text to the store's refusal of a dead-letter queue. Returns the result of `work`. `policy`: the
 * RedrivePolicy that it writes, as given. `target`: the queue that the policy names.
 */
export async function withTarget<T>(
  { queues }: Pick<ApiDeps, 'queues'>,
  { policy, target }: { policy: string | undefined; target: string | undefined },
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (policy === undefined || target === undefined || !isTargetRefused(error)) throw error
    const reason =
      (await queues.get(target)) === null
        ? 'Dead letter target does not exist.'
        : 'Dead letter target does not allow this queue as a source.'
    throw invalidValue('RedrivePolicy', policy, reason)
  }
}

function isTargetRefused(error: unknown): boolean {
  return (
    error instanceof FantailError &&
    error.code === 'validation_failed' &&
    error.details?.[0]?.path === 'redrivePolicy.deadLetterTargetArn'
  )
}
