/**
 * The rules of @fantail/consumer, on Fantail's own API and on its SQS endpoint. Consumers that are killed lose no
 * message, and repeat only messages that were under way.
 */
import { consume } from '@fantail/consumer'
import { expect, test } from 'vitest'
import { useAwsClients } from '../harness/aws/aws-clients.ts'
import { useStack } from '../harness/services/stack.ts'
import { nativeQueues, type QueueMaker, sqsQueues } from './consumed-queues.fixture.ts'
import { describeConsumer } from './consumer-rules.fixture.ts'
import { expectKillsToLoseNothing } from './killed-consumers.ts'

const stack = useStack({ workers: 0 })
const aws = useAwsClients(stack)
const makers: QueueMaker[] = [
  nativeQueues(
    () => stack().client,
    () => stack().api.url,
  ),
  sqsQueues(() => aws().sqs, "Fantail's SQS endpoint"),
]

for (const maker of makers) describeConsumer(maker, () => stack().connection)

test.concurrent.each(makers)(
  'killed consumers on $wire: nothing lost, at most what was under way repeated',
  (maker) =>
    expectKillsToLoseNothing(maker, `killed-${makers.indexOf(maker)}`, {
      connection: stack().connection,
      redisUrl: stack().redis.url,
      env: { FANTAIL_URL: stack().api.url },
    }),
)

test.each([
  [{ concurrency: 0 }, 'concurrency must be a whole number from 1 to 1000, not 0'],
  [{ visibilitySeconds: 43_201 }, 'visibilitySeconds must be a whole number from 1 to 43200, not 43201'],
  [{ waitSeconds: 21 }, 'waitSeconds must be a whole number from 0 to 20, not 21'],
  [{ handlerTimeoutSeconds: 0 }, 'handlerTimeoutSeconds must be more than 0'],
  [{ fantail: { url: 'nowhere' } }, 'the URL of Fantail is not valid: nowhere'],
])('options that cannot be used are refused: %j', (options, text) => {
  expect(() => consume('jobs', () => undefined, options)).toThrow(text)
})
