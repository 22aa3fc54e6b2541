/** Operations on whole queues: GetQueueUrl, ListQueues, DeleteQueue, PurgeQueue, ListDeadLetterSourceQueues. */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import { isQueueName, queueArn } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { queueMissing, queueOf, queueUrlOf, whereQueueExists } from '../wire/queue-url.ts'
import { pageAfter, pageOf } from '../wire/result-pages.ts'
import { missingParameter, sqsError } from '../wire/sqs-error.ts'
import { createQueueOperation } from './create-queue.ts'

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
