/** The rules of @fantail/consumer, on Fantail's own API and on its SQS endpoint. */
import { consume } from '@fantail/consumer'
import { expect, test } from 'vitest'
import { useAwsClients } from '../harness/aws/aws-clients.ts'
import { useStack } from '../harness/services/stack.ts'
import { nativeQueues, sqsQueues } from './consumed-queues.fixture.ts'
import { describeConsumer } from './consumer-rules.fixture.ts'

const stack = useStack({ workers: 0 })
const aws = useAwsClients(stack)
const redis = () => stack().connection

describeConsumer(
  nativeQueues(
    () => stack().client,
    () => stack().api.url,
  ),
  redis,
)
describeConsumer(
  sqsQueues(() => aws().sqs, "Fantail's SQS endpoint"),
  redis,
)

test.each([
  [{ concurrency: 0 }, 'concurrency must be a whole number from 1 to 1000, not 0'],
  [{ visibilitySeconds: 43_201 }, 'visibilitySeconds must be a whole number from 1 to 43200, not 43201'],
  [{ waitSeconds: 21 }, 'waitSeconds must be a whole number from 0 to 20, not 21'],
  [{ handlerTimeoutSeconds: 0 }, 'handlerTimeoutSeconds must be more than 0'],
  [{ fantail: { url: 'nowhere' } }, 'the URL of Fantail is no URL: nowhere'],
])('options that cannot be used are refused: %j', (options, text) => {
  expect(() => consume('jobs', () => undefined, options)).toThrow(text)
})
