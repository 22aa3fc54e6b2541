/**
 * Queues with boto3, if this machine has a Python with boto3. Old versions (as in Debian 12) use SQS's Query protocol,
 * newer ones AWS JSON.
 */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pythonsWithBoto3, run } from '../../harness/aws/pythons.ts'
import { useStack } from '../../harness/services/stack.ts'

const CALLS = join(import.meta.dirname, 'boto3_calls.py')

const pythons = await pythonsWithBoto3()
const stack = useStack({ workers: 0 })

if (pythons.size === 0) test('boto3 is here', ({ skip }) => skip('no Python with boto3'))

test.each([...pythons])('[161][162][163][164][168][180][186][190][222] boto3 %s', async (_, python) => {
  const { stdout } = await run(python, [CALLS, stack().api.url])
  const seen = JSON.parse(stdout)
  const suffix = seen.protocol === 'query' ? ' for this wsdl version' : ''
  expect(seen).toEqual({
    protocol: expect.stringMatching(/^(query|json)$/),
    identity: ['arn:aws:iam::000000000000:root', '000000000000', '000000000000'],
    url: true,
    tags: { team: 'blue' },
    attributes: [
      'ApproximateNumberOfMessages',
      'ApproximateNumberOfMessagesDelayed',
      'ApproximateNumberOfMessagesNotVisible',
      'CreatedTimestamp',
      'DelaySeconds',
      'LastModifiedTimestamp',
      'MaximumMessageSize',
      'MessageRetentionPeriod',
      'QueueArn',
      'ReceiveMessageWaitTimeSeconds',
      'SqsManagedSseEnabled',
      'VisibilityTimeout',
    ],
    noNames: false,
    missing: [
      'QueueDoesNotExist',
      'AWS.SimpleQueueService.NonExistentQueue',
      `The specified queue does not exist${suffix}.`,
      400,
    ],
    different: [
      'QueueNameExists',
      'QueueAlreadyExists',
      'A queue already exists with the same name and a different value for attribute DelaySeconds',
      400,
    ],
    received: [true, 'hello'],
    binary: true,
    empty: false,
    dead: { ApproximateNumberOfMessages: '1' },
    sources: true,
    purged: [
      'PurgeQueueInProgress',
      'AWS.SimpleQueueService.PurgeQueueInProgress',
      'Only one PurgeQueue operation on boto3-dead is allowed every 60 seconds.',
      403,
    ],
    pages: [1, 1],
  })
})
