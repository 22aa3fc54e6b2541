/** Consumers that are killed lose no message, and repeat only messages that were under way. */
import { test } from 'vitest'
import { useAwsClients } from '../harness/aws/aws-clients.ts'
import { useStack } from '../harness/services/stack.ts'
import { nativeQueues, type QueueMaker, sqsQueues } from './consumed-queues.fixture.ts'
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

test.concurrent.each(makers)(
  'killed consumers on $wire: nothing lost, at most what was under way repeated',
  (maker) =>
    expectKillsToLoseNothing(maker, `killed-${makers.indexOf(maker)}`, {
      connection: stack().connection,
      redisUrl: stack().redis.url,
      env: { FANTAIL_URL: stack().api.url },
    }),
)
