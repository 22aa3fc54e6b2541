/**
 * Queues as boto3 sees them, where a Python of this machine has it. Old ones (Debian 12's is) speak SQS's Query protocol,
 * newer ones AWS JSON.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { useStack } from '../harness/stack.ts'

const run = promisify(execFile)
const CALLS = join(import.meta.dirname, 'boto3_calls.py')

const pythons = await withBoto3(['/usr/bin/python3', 'python3'])
const stack = useStack({ workers: 0 })

/** Those of the interpreters that can import boto3, each version of it once. */
async function withBoto3(commands: string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const command of commands) {
    try {
      const { stdout } = await run(command, ['-c', 'import boto3; print(boto3.__version__)'])
      found.set(stdout.trim(), command)
    } catch {
      // No such interpreter, or none with boto3.
    }
  }
  return found
}

if (pythons.size === 0) test('boto3 is here', ({ skip }) => skip('no Python with boto3'))

test.each([...pythons])('[161][162][163][164][168][180][186][190] boto3 %s', async (_, python) => {
  const { stdout } = await run(python, [CALLS, stack().api.url])
  const seen = JSON.parse(stdout)
  const suffix = seen.protocol === 'query' ? ' for this wsdl version' : ''
  expect(seen).toEqual({
    protocol: expect.stringMatching(/^(query|json)$/),
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
