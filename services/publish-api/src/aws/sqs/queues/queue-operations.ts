/** Operations on whole queues: GetQueueUrl, ListQueues, DeleteQueue, PurgeQueue, ListDeadLetterSourceQueues. */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import { FantailError, isFifoName, isQueueName, type QueueRecord, queueArn } from '@fantail/contracts'
import { decodeCursor, encodeCursor, type Page } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { queueMissing, queueOf, queueUrlOf, whereQueueExists } from '../wire/queue-url.ts'
import { invalidParameterValue, missingParameter, sqsError } from '../wire/sqs-error.ts'
import { ATTRIBUTES, TAGS } from '../wire/sqs-shapes.ts'
import { differingAttribute } from './printed-attributes.ts'
import { changedSettings, parseAttributes, WIRE_DEFAULTS, withoutSse } from './queue-attributes.ts'
import { checkTags } from './queue-tags.ts'
import { withTarget } from './redrive-policies.ts'

const PURGE_PAUSE_MS = 60_000
const ACCOUNT = /^\d{12}$/
const PAGE = { MaxResults: 'integer', NextToken: 'string' } as const
const QUEUE_URLS = { list: 'string', flat: 'QueueUrl' } as const

export function queueOperations(deps: ApiDeps): Operation[] {
  return [
    createQueueOperation(deps),
    {
      name: 'GetQueueUrl',
      input: { QueueName: 'string', QueueOwnerAWSAccountId: 'string' },
      output: { QueueUrl: 'string' },
      run: (input, call) => getQueueUrl(deps, input, call),
    },
    {
      name: 'ListQueues',
      input: { QueueNamePrefix: 'string', ...PAGE },
      output: { QueueUrls: QUEUE_URLS, NextToken: 'string' },
      run: (input, call) => listQueues(deps, input, call),
    },
    {
      name: 'DeleteQueue',
      input: { QueueUrl: 'string' },
      output: null,
      run: (input, call) => deleteQueue(deps, input, call),
    },
    {
      name: 'PurgeQueue',
      input: { QueueUrl: 'string' },
      output: null,
      run: (input, call) => purgeQueue(deps, input, call),
    },
    {
      name: 'ListDeadLetterSourceQueues',
      input: { QueueUrl: 'string', ...PAGE },
      output: { queueUrls: QUEUE_URLS, NextToken: 'string' },
      run: (input, call) => listSources(deps, input, call),
    },
  ]
}

async function getQueueUrl({ queues, settings }: ApiDeps, input: AwsInput, call: AwsCall) {
  if (input.QueueName === undefined) throw missingParameter('QueueName')
  const name = String(input.QueueName)
  const account = String(input.QueueOwnerAWSAccountId ?? call.account)
  if (!isQueueName(name) || !ACCOUNT.test(account)) throw queueMissing(call)
  const arn = queueArn(name, { partition: settings.arn.partition, region: call.region, account })
  if ((await queues.get(arn)) === null) throw queueMissing(call)
  return { QueueUrl: queueUrlOf(settings, arn, call) }
}

/**
 * Prefix of names for which ListQueues asks Redis. Past it: the list is empty. No name is longer, and Redis would get
 * the text once for each shard.
 */
const QUEUE_PREFIX_CHARS_MAX = 80

async function listQueues({ queues, settings }: ApiDeps, input: AwsInput, call: AwsCall) {
  const owner = { partition: settings.arn.partition, region: call.region, account: call.account }
  const prefix = String(input.QueueNamePrefix ?? '')
  if (prefix.length > QUEUE_PREFIX_CHARS_MAX) return {}
  const { items, nextToken } = await pageOf(input, (page) => queues.list({ owner, prefix, ...page }))
  const urls = items.map(({ arn }) => queueUrlOf(settings, arn, call))
  // A caller gets a token only if it asks for pages with MaxResults. Others would follow a token, and AWS sends them
  // none.
  const paged = input.MaxResults !== undefined && nextToken !== null
  return { ...(urls.length > 0 && { QueueUrls: urls }), ...(paged && { NextToken: nextToken }) }
}

async function deleteQueue(deps: ApiDeps, input: AwsInput, call: AwsCall): Promise<undefined> {
  const { arn } = await queueOf(deps, input, call)
  await deps.queues.delete(arn)
  deps.log.info({ requestId: call.requestId, queueArn: arn }, 'queue.deleted')
}

async function purgeQueue(deps: ApiDeps, input: AwsInput, call: AwsCall): Promise<undefined> {
  const { arn, name } = await queueOf(deps, input, call)
  const purgedAt = await deps.queues.lastPurgedAt(arn)
  if (purgedAt !== null && deps.clock() - purgedAt < PURGE_PAUSE_MS) {
    const text = `Only one PurgeQueue operation on ${name} is allowed every 60 seconds.`
    throw sqsError('PurgeQueueInProgress', text)
  }
  const purged = await whereQueueExists(call, deps.queues.purge(arn))
  deps.log.info({ requestId: call.requestId, queueArn: arn, purged }, 'queue.purged')
}

async function listSources(deps: ApiDeps, input: AwsInput, call: AwsCall) {
  const { arn } = await queueOf(deps, input, call)
  const sources = await deps.queues.listSources(arn)
  const { items, nextToken } = await pageOf(input, async (page) => pageAfter(sources, page))
  const urls = items.map((source) => queueUrlOf(deps.settings, source, call))
  return { queueUrls: urls, ...(nextToken !== null && { NextToken: nextToken }) }
}

const STANDARD_NAME = 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length'
const FIFO_NAME =
  'The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.'

/** CreateQueue: creates a queue. An existing queue is returned if it has the given attributes (checklist 164). */
function createQueueOperation(deps: ApiDeps): Operation {
  return {
    name: 'CreateQueue',
    input: { QueueName: 'string', Attributes: ATTRIBUTES, tags: TAGS },
    output: { QueueUrl: 'string' },
    run: (input, call) => createQueue(deps, input, call),
  }
}

async function createQueue(deps: ApiDeps, input: AwsInput, call: AwsCall) {
  const given = withoutSse({ ...(input.Attributes as Record<string, string> | undefined) }, deps)
  const name = checkedName(input.QueueName, given.FifoQueue?.toLowerCase() === 'true')
  const arn = arnOf(deps, name, call)
  const settings = changedSettings(parseAttributes(given, arn))
  const tags = { ...(input.tags as Record<string, string> | undefined) }
  checkTags(tags, name)
  if ((await deps.queues.get(arn)) === null) await checkCooldown(deps, arn)
  const set = { ...WIRE_DEFAULTS, ...settings, tags }
  const named = { policy: given.RedrivePolicy, target: settings.redrivePolicy?.deadLetterTargetArn }
  const { queue, created } = await withTarget(deps, named, deps.queues.create(arn, set))
  if (created) {
    deps.log.info({ requestId: call.requestId, queueArn: arn }, 'queue.created')
    deps.withoutEffect.note('queue', arn, given)
  } else checkSame(given, queue)
  return { QueueUrl: queueUrlOf(deps.settings, arn, call) }
}

function arnOf({ settings }: ApiDeps, name: string, { account, region }: AwsCall): string {
  return queueArn(name, { partition: settings.arn.partition, region, account })
}

function checkSame(given: Record<string, string>, queue: QueueRecord): void {
  const name = differingAttribute(given, queue)
  if (name === undefined) return
  const text = `A queue already exists with the same name and a different value for attribute ${name}`
  throw sqsError('QueueNameExists', text)
}

/** The name must end in `.fifo` if FifoQueue is true, and only then. */
function checkedName(given: unknown, fifo: boolean): string {
  if (given === undefined) {
    const text = 'Value for parameter QueueName is invalid. Reason: Must specify a queue name.'
    throw invalidParameterValue(text)
  }
  const name = String(given)
  if (name === '') throw invalidParameterValue('Queue name cannot be empty')
  if (isQueueName(name) && isFifoName(name) === fifo) return name
  throw invalidParameterValue(fifo ? FIFO_NAME : STANDARD_NAME)
}

async function checkCooldown({ queues, settings, clock }: ApiDeps, arn: string): Promise<void> {
  const wait = settings.sqsDeleteCooldownSeconds
  const deletedAt = wait > 0 ? await queues.deletedAt(arn) : null
  if (deletedAt === null || clock() - deletedAt >= wait * 1_000) return
  const text = `You must wait ${wait} seconds after deleting a queue before you can create another with the same name.`
  throw sqsError('QueueDeletedRecently', text)
}

/** @limit Members of one page of an SQS list, and the default. Past it: the request is refused. */
const SQS_RESULTS_MAX = 1_000

interface PageRequest {
  cursor?: string
  limit: number
}

interface Pages<T> {
  items: T[]
  nextToken: string | null
}

/** MaxResults and NextToken for the store's pages. */
async function pageOf<T>(
  { MaxResults, NextToken }: AwsInput,
  read: (page: PageRequest) => Promise<Page<T>>,
): Promise<Pages<T>> {
  const limit = MaxResults === undefined ? SQS_RESULTS_MAX : Number(MaxResults)
  if (limit < 1 || limit > SQS_RESULTS_MAX) {
    const text = `MaxResults must be an integer between 1 and ${SQS_RESULTS_MAX}.`
    throw invalidParameterValue(`Value for parameter MaxResults is invalid. Reason: ${text}`)
  }
  const cursor = NextToken === undefined ? undefined : String(NextToken)
  try {
    const { items, nextCursor } = await read({ limit, ...(cursor && { cursor }) })
    return { items, nextToken: nextCursor }
  } catch (error) {
    throw isBadCursor(error) ? invalidParameterValue('Invalid or expired next token.') : error
  }
}

/** A page of names that are all in memory, in their order. */
function pageAfter(names: string[], { cursor, limit }: PageRequest): Page<string> {
  const after = cursor === undefined ? '' : (decodeCursor(cursor, 1)[0] ?? '')
  const rest = names.filter((name) => name > after)
  const items = rest.slice(0, limit)
  const last = rest.length > limit ? items.at(-1) : undefined
  return { items, nextCursor: last === undefined ? null : encodeCursor([last]) }
}

function isBadCursor(error: unknown): boolean {
  return error instanceof FantailError && error.details?.[0]?.path === 'cursor'
}
