/** Finds the queue that a call names, and makes the URLs of queues for answers. */
import type { AwsCall, AwsError, AwsInput } from '@fantail/aws-wire'
import { FantailError, isQueueName, parseArn, type QueueRecord, queueArn } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { invalidParameterValue, missingParameter, sqsError } from './sqs-error.ts'

type Settings = Pick<ApiDeps['settings'], 'arn' | 'publicUrl'>

/** The end of every queue URL. Any host and any path prefix of a proxy may come before it. */
const ACCOUNT_AND_NAME = /(?:^|\/)(\d{12})\/([^/]+)\/?$/

/**
 * The ARN of the queue that QueueUrl names, or for Query also the request's path. The queue may not exist. A URL of any
 * host is accepted, and a bare name too. Throws `QueueDoesNotExist` if no queue can have this name. If the URL is not a
 * queue's, it throws `QueueDoesNotExist` over AWS JSON and `InvalidAddress` over AWS Query.
 */
export function queueArnOf({ arn }: Settings, input: AwsInput, call: AwsCall): string {
  const url = String(input.QueueUrl ?? '') || pathOf(call)
  if (url === '') throw missingParameter('QueueUrl')
  const named = url.includes('/') ? urlParts(url) : { account: call.account, name: url }
  if (named === undefined) {
    if (call.protocol === 'json') throw queueMissing(call)
    throw sqsError('InvalidAddress', `The address ${url} is not valid for this endpoint.`)
  }
  if (!isQueueName(named.name)) throw queueMissing(call)
  return queueArn(named.name, { partition: arn.partition, region: call.region, account: named.account })
}

/** The ARN of a queue that may exist. */
export function checkQueueArn(given: unknown, parameter: string): string {
  const arn = String(given)
  if (parseArn(arn)?.service === 'sqs') return arn
  const format = 'arn:<partition>:<service>:<region>:<account-id>:<resource-id>'
  throw invalidParameterValue(`You must use this format to specify the ${parameter}: ${format}`)
}

/** The queue that a call names. Throws `QueueDoesNotExist`. */
export async function queueOf(
  { settings, queues }: Pick<ApiDeps, 'settings' | 'queues'>,
  input: AwsInput,
  call: AwsCall,
): Promise<QueueRecord> {
  const queue = await queues.get(queueArnOf(settings, input, call))
  if (!queue) throw queueMissing(call)
  return queue
}

/**
 * The queue that a call names, as it was at most a second ago. A queue in use needs no round trip. Throws
 * `QueueDoesNotExist`.
 */
export async function knownQueue(
  { settings, queueCache }: Pick<ApiDeps, 'settings' | 'queueCache'>,
  input: AwsInput,
  call: AwsCall,
): Promise<QueueRecord> {
  const arn = queueArnOf(settings, input, call)
  const queue = queueCache.known(arn) ?? (await queueCache.find(arn))
  if (!queue) throw queueMissing(call)
  return queue
}

/** Returns the result of `work`. Throws `QueueDoesNotExist` if the store finds no queue. */
export async function whereQueueExists<T>(call: AwsCall, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof FantailError && error.code === 'not_found' ? queueMissing(call) : error
  }
}

/** `{base}/{account}/{name}`. The base is configured, or else the origin that the caller used. */
export function queueUrlOf({ publicUrl }: Settings, arn: string, call: Pick<AwsCall, 'origin'>): string {
  const { account, name } = parseArn(arn) ?? {}
  return `${publicUrl?.replace(/\/+$/, '') ?? call.origin}/${account}/${name}`
}

/** The text depends on the protocol (checklist 208). */
export function queueMissing({ protocol }: Pick<AwsCall, 'protocol'>): AwsError {
  const suffix = protocol === 'query' ? ' for this wsdl version' : ''
  return sqsError('QueueDoesNotExist', `The specified queue does not exist${suffix}.`)
}

/**
 * The path of a Query call, which may name the queue. The path of a JSON call is ignored. Its body names the queue,
 * even if an SDK sends the call to the queue's URL.
 */
function pathOf({ protocol, path }: AwsCall): string {
  return protocol === 'query' && path !== '/' ? path : ''
}

function urlParts(url: string): { account: string; name: string } | undefined {
  const path = url.split(/[?#]/)[0] ?? ''
  const [, account, name] = ACCOUNT_AND_NAME.exec(path) ?? []
  return account === undefined || name === undefined ? undefined : { account, name }
}
