/** GetQueueAttributes, SetQueueAttributes. */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { queueArnOf, queueMissing, queueOf, whereQueueExists } from '../wire/queue-url.ts'
import { missingParameter } from '../wire/sqs-error.ts'
import { ATTRIBUTES } from '../wire/sqs-shapes.ts'
import { printAttributes } from './printed-attributes.ts'
import { changedSettings, checkAttributeNames, parseAttributes, withoutSse } from './queue-attributes.ts'
import { withTarget } from './redrive-policies.ts'

export function attributeOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'GetQueueAttributes',
      input: { QueueUrl: 'string', AttributeNames: { list: 'string', flat: 'AttributeName' } },
      output: { Attributes: ATTRIBUTES },
      run: (input, call) => getQueueAttributes(deps, input, call),
    },
    {
      name: 'SetQueueAttributes',
      input: { QueueUrl: 'string', Attributes: ATTRIBUTES },
      output: null,
      run: (input, call) => setQueueAttributes(deps, input, call),
    },
  ]
}

async function getQueueAttributes(deps: ApiDeps, input: AwsInput, call: AwsCall) {
  const names = (input.AttributeNames as string[] | undefined) ?? []
  const found = await deps.queues.getWithCounts(queueArnOf(deps.settings, input, call))
  if (!found) throw queueMissing(call)
  checkAttributeNames(names)
  const wanted = (name: string) => names.includes('All') || names.includes(name)
  const entries = Object.entries(printAttributes(found.queue, found.counts))
  const asked = entries.filter(([name, value]) => value !== undefined && wanted(name))
  return asked.length > 0 ? { Attributes: Object.fromEntries(asked) } : {}
}

async function setQueueAttributes(deps: ApiDeps, input: AwsInput, call: AwsCall): Promise<undefined> {
  const given = withoutSse({ ...(input.Attributes as Record<string, string> | undefined) }, deps)
  const { arn } = await queueOf(deps, input, call)
  if (Object.keys(given).length === 0) throw missingParameter('Attribute.Name')
  const change = parseAttributes(given, arn)
  const named = { policy: given.RedrivePolicy, target: change.set.redrivePolicy?.deadLetterTargetArn }
  const updated = deps.queues.update(arn, (queue) => changedSettings(change, queue))
  await whereQueueExists(call, withTarget(deps, named, updated))
  const { requestId } = call
  deps.log.info({ requestId, queueArn: arn, members: Object.keys(given) }, 'queue.changed')
  deps.withoutEffect.note('queue', arn, given)
}
