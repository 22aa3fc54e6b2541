/** Subscriptions that are not confirmed within two days. */
import {
  ConfirmSubscriptionCommand,
  GetTopicAttributesCommand,
  ListSubscriptionsByTopicCommand,
} from '@aws-sdk/client-sns'
import { createRedriveService } from '@fantail/redrive'
import { createLogger } from '@fantail/runtime'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { topicArn, useAwsClients } from '../harness/aws/aws-clients.ts'
import { awsWebhooks } from '../harness/aws/aws-webhooks.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { notification } from '../harness/receivers/webhooks.ts'
import { moveRedisTime } from '../harness/redis/redis-time.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack()
const receiver = useReceiver()
const aws = useAwsClients(stack)
const webhooks = awsWebhooks({ stack, aws, receiver })

const TWO_DAYS_MS = 2 * 24 * 3_600_000
const TopicArn = topicArn('asked')

async function listed(): Promise<(string | undefined)[]> {
  const { Subscriptions } = await aws().sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }))
  return (Subscriptions ?? []).map(({ SubscriptionArn }) => SubscriptionArn)
}

test('[65] an unconfirmed subscription disappears after two days, and cannot be confirmed any more', async () => {
  await webhooks.createTopic('asked')
  const confirmed = await webhooks.subscribe('asked', '/confirmed')
  await aws().subscribe('asked', { protocol: 'http', endpoint: `${receiver().url}/asked` })
  const [asked] = await receiver().waitForRequests(1, '/asked')
  const Token = asked && notification(asked).Token
  expect((await listed()).sort()).toEqual(['PendingConfirmation', confirmed].sort())
  await moveRedisTime(stack().connection, TWO_DAYS_MS + 1_000)
  // The first sweep of this service comes at once, the next a minute later.
  const redrive = createRedriveService({
    redisUrl: stack().redis.url,
    log: createLogger({ service: 'test', level: 'silent' }),
  })
  await redrive.start()
  try {
    await waitFor(async () => (await listed()).length === 1)
  } finally {
    await redrive.stop()
  }
  expect(await listed()).toEqual([confirmed])
  const confirm = aws().sns.send(new ConfirmSubscriptionCommand({ TopicArn, Token }))
  await expect(confirm).rejects.toThrow('Invalid parameter: Token')
  const { Attributes } = await aws().sns.send(new GetTopicAttributesCommand({ TopicArn }))
  expect(Attributes).toMatchObject({ SubscriptionsPending: '0', SubscriptionsConfirmed: '1' })
  await webhooks.publish('asked', 'still there')
  expect((await webhooks.waitForSent('/confirmed', 1))[0]?.text).toContain('still there')
  expect(receiver().requestsTo('/asked')).toHaveLength(1)
})
