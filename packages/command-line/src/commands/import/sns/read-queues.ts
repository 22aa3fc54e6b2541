/** Reads the queues of one region. */
import {
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { sideBySide } from '@fantail/store'
import { allPages, CALLS_AT_ONCE } from '../../aws/aws-topic.ts'
import type { AwsCalls } from './aws-calls.ts'
import type { SourceQueue } from './aws-source.ts'

interface Reading {
  sqs: SQSClient
  calls: AwsCalls
  region: string
  signal: AbortSignal
}

/** Queues of one answer. Without such a bound SQS gives no further pages. */
const QUEUES_PER_PAGE = 1_000

export async function readQueues(reading: Reading): Promise<SourceQueue[]> {
  const { sqs, calls, signal } = reading
  const urls = await allPages(async (NextToken) => {
    const page = await calls.ask('sqs:ListQueues', undefined, () =>
      sqs.send(new ListQueuesCommand({ MaxResults: QUEUES_PER_PAGE, NextToken }), { abortSignal: signal }),
    )
    return { items: page?.QueueUrls ?? [], next: page?.NextToken }
  })
  const queues = await sideBySide(urls, CALLS_AT_ONCE, (url) => readQueue(reading, url))
  // A queue that was deleted after it was listed must not be made here.
  return queues.filter(({ arn }) => !calls.isGone('sqs:GetQueueAttributes', arn))
}

async function readQueue({ sqs, calls, region, signal }: Reading, QueueUrl: string): Promise<SourceQueue> {
  const options = { abortSignal: signal }
  const named = arnOf(QueueUrl, region)
  const answer = await calls.ask('sqs:GetQueueAttributes', named, () =>
    sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }), options),
  )
  const tags = await calls.ask('sqs:ListQueueTags', named, () =>
    sqs.send(new ListQueueTagsCommand({ QueueUrl }), options),
  )
  const attributes = answer && { ...answer.Attributes }
  return { arn: attributes?.QueueArn ?? named, attributes, tags: tags && { ...tags.Tags } }
}

/** By the last two parts of the URL: account and name. */
function arnOf(url: string, region: string): string {
  const [account = '', name = ''] = new URL(url).pathname.split('/').slice(-2)
  const partition = /^(cn|us-gov)-/.exec(region)?.[1]
  return `arn:aws${partition === undefined ? '' : `-${partition}`}:sqs:${region}:${account}:${name}`
}
