/** ListSubscriptions for the caller's account and region, and ListSubscriptionsByTopic (checklist 113, 140). */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import { FantailError, LIST_LIMIT_MAX, parseArn, type SubscriptionRecord, topicArn } from '@fantail/contracts'
import { maskCredentials } from '@fantail/delivery'
import type { ListSubscriptions } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { checkTopicArn } from '../wire/arns.ts'
import { invalidParameter, noSuchTopic } from '../wire/refusals.ts'

const SUBSCRIPTION = {
  struct: {
    SubscriptionArn: 'string',
    Owner: 'string',
    Protocol: 'string',
    Endpoint: 'string',
    TopicArn: 'string',
  },
} as const
const output = { Subscriptions: { list: SUBSCRIPTION }, NextToken: 'string' } as const

export function listSubscriptionsOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'ListSubscriptions',
      input: { NextToken: 'string' },
      output,
      run: ({ NextToken }, { account, region }: AwsCall) => {
        const { partition } = deps.settings.arn
        return page(deps, { topicPrefix: topicArn('', { partition, account, region }) }, NextToken)
      },
    },
    {
      name: 'ListSubscriptionsByTopic',
      input: { TopicArn: 'string', NextToken: 'string' },
      output,
      run: async ({ TopicArn, NextToken }: AwsInput, call) => {
        const arn = checkTopicArn(TopicArn, call)
        if (!(await deps.topics.get(arn))) throw noSuchTopic()
        return page(deps, { topicArn: arn }, NextToken)
      },
    },
  ]
}

async function page(deps: ApiDeps, which: Partial<ListSubscriptions>, token: unknown) {
  const { items, nextCursor } = await deps.subscriptions
    .list({ ...which, limit: LIST_LIMIT_MAX, ...(token !== undefined && { cursor: String(token) }) })
    .catch((error) => Promise.reject(toRefusal(error)))
  return { Subscriptions: items.map(entryOf), NextToken: nextCursor ?? undefined }
}

function entryOf(record: SubscriptionRecord) {
  return {
    SubscriptionArn: record.status === 'pending' ? 'PendingConfirmation' : record.arn,
    Owner: parseArn(record.arn)?.account,
    Protocol: record.protocol,
    Endpoint: maskCredentials(record.endpoint),
    TopicArn: record.topicArn,
  }
}

function toRefusal(error: unknown): unknown {
  const badToken = error instanceof FantailError && error.code === 'validation_failed'
  return badToken ? invalidParameter('NextToken') : error
}
