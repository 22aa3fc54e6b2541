/**
 * Ansible's modules for SNS and SQS judge what is read back: a second run with the same arguments must change nothing.
 * `npm run test:packages` installs them; without them this test is skipped.
 */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ansiblePython } from '../../harness/aws/ansible-python.ts'
import { run } from '../../harness/aws/pythons.ts'
import { useStack } from '../../harness/services/stack.ts'

const CALLS = join(import.meta.dirname, 'ansible_modules.py')
const DEAD = 'arn:aws:sqs:us-east-1:000000000000:ansible-dead'
/** Check mode announces a change, the module makes it, and then both find nothing to do. */
const ONCE = [true, true, false, false]
const MADE = [true, false, false]

const python = ansiblePython()
const stack = useStack({ workers: 0 })

test.skipIf(python === undefined)(
  'Ansible makes, changes and deletes each thing once',
  async () => {
    const { stdout } = await run(python ?? '', [CALLS, stack().api.url])
    expect(JSON.parse(stdout)).toEqual({
      'dead-letter queue': ONCE,
      queue: ONCE,
      'queue as read': {
        visibility_timeout: 900,
        delay_seconds: 900,
        maximum_message_size: 9009,
        message_retention_period: 900,
        receive_message_wait_time_seconds: 10,
        tags: { team: 'blue', 'Tag Two': 'two' },
        redrive_policy: { deadLetterTargetArn: DEAD, maxReceiveCount: 5 },
      },
      'reworded policy': false,
      'changed queue': ONCE,
      'changed queue as read': expect.objectContaining({
        delay_seconds: 1,
        tags: { team: 'green' },
        redrive_policy: { deadLetterTargetArn: DEAD, maxReceiveCount: 3 },
      }),
      'empty redrive policy': expect.objectContaining({
        code: 'InvalidParameterValue',
        message:
          'Value {} for parameter RedrivePolicy is invalid. Reason: Redrive policy does not contain mandatory attribute: maxReceiveCount.',
      }),
      'whole policy': ONCE,
      'sealed queue': ONCE,
      'FIFO queue': ONCE,
      'faster FIFO queue': ONCE,
      topic: MADE,
      'topic as read': { name: 'My topic', retries: 3, subscriptions: [true] },
      'changed topic': ONCE,
      'topic info': ['My new topic', 1, '000000000000'],
      'topic without subscriptions': ONCE,
      'pending subscription': [true, false],
      'FIFO topic': MADE,
      'FIFO topic without deduplication': ONCE,
      'no ansible-orders': ONCE,
      'no ansible.fifo': ONCE,
      'no queue ansible-work': ONCE,
      'no queue ansible-dead': ONCE,
      'no queue ansible-sealed': ONCE,
      'no queue ansible.fifo': ONCE,
    })
  },
  120_000,
)
