/** CreateQueue: creates a queue. An existing queue is returned if it has the given attributes (checklist 164). */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import { isFifoName, isQueueName, type QueueRecord, queueArn } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { queueUrlOf } from '../wire/queue-url.ts'
import { invalidParameterValue, sqsError } from '../wire/sqs-error.ts'
import { ATTRIBUTES, TAGS } from '../wire/sqs-shapes.ts'
import { withTarget } from './dead-letter-target.ts'
import { differingAttribute } from './printed-attributes.ts'
import { changedSettings, parseAttributes, WIRE_DEFAULTS } from './queue-attributes.ts'
import { checkTags } from './queue-tags.ts'

const STANDARD_NAME = 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length'
const FIFO_NAME =
  'The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.'

export function createQueueOperation(deps: ApiDeps): Operation {
  return {
    name: 'CreateQueue',
    input: { QueueName: 'string', Attributes: ATTRIBUTES, tags: TAGS },
    output: { QueueUrl: 'string' },
    run: (input, call) => createQueue(deps, input, call),
  }
}

async function createQueue(deps: ApiDeps, input: AwsInput, call: AwsCall) {
  const given = { ...(input.Attributes as Record<string, string> | undefined) }
  const name = checkedName(input.QueueName, given.FifoQueue?.toLowerCase() === 'true')
  const arn = arnOf(deps, name, call)
  const settings = changedSettings(parseAttributes(given, arn))
  const tags = { ...(input.tags as Record<string, string> | undefined) }
  checkTags(tags, name)
  if ((await deps.queues.get(arn)) === null) await checkCooldown(deps, arn)
  const set = { ...WIRE_DEFAULTS, ...settings, tags }
  const named = { policy: given.RedrivePolicy, target: settings.redrivePolicy?.deadLetterTargetArn }
  const { queue, created } = await withTarget(deps, named, deps.queues.create(arn, set))
  if (created) {
    deps.log.info({ requestId: call.requestId, queueArn: arn }, 'queue.created')
    deps.withoutEffect.note('queue', arn, given)
  } else checkSame(given, queue)
  return { QueueUrl: queueUrlOf(deps.settings, arn, call) }
}

function arnOf({ settings }: ApiDeps, name: string, { account, region }: AwsCall): string {
  return queueArn(name, { partition: settings.arn.partition, region, account })
}

function checkSame(given: Record<string, string>, queue: QueueRecord): void {
  const name = differingAttribute(given, queue)
  if (name === undefined) return
  const text = `A queue already exists with the same name and a different value for attribute ${name}`
  throw sqsError('QueueNameExists', text)
}

/** The name must end in `.fifo` if FifoQueue is true, and only then. */
function checkedName(given: unknown, fifo: boolean): string {
  if (given === undefined) {
    const text = 'Value for parameter QueueName is invalid. Reason: Must specify a queue name.'
    throw invalidParameterValue(text)
  }
  const name = String(given)
  if (name === '') throw invalidParameterValue('Queue name cannot be empty')
  if (isQueueName(name) && isFifoName(name) === fifo) return name
  throw invalidParameterValue(fifo ? FIFO_NAME : STANDARD_NAME)
}

async function checkCooldown({ queues, settings, clock }: ApiDeps, arn: string): Promise<void> {
  const wait = settings.sqsDeleteCooldownSeconds
  const deletedAt = wait > 0 ? await queues.deletedAt(arn) : null
  if (deletedAt === null || clock() - deletedAt >= wait * 1_000) return
  const text = `You must wait ${wait} seconds after deleting a queue before you can create another with the same name.`
  throw sqsError('QueueDeletedRecently', text)
}
