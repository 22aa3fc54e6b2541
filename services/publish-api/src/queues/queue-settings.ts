/** The queue settings that the body of a PUT or PATCH sets. */
import { FantailError, isFifoName, resolveQueue } from '@fantail/contracts'
import type { QueueInput } from '@fantail/contracts/schemas/queues/queue-schemas'
import { QUEUE, type QueueSettings } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { invalid } from '../http/error-answers.ts'

type Input = z.output<typeof QueueInput>

const FIFO_ONLY = ['contentBasedDeduplication', 'deduplicationScope'] as const

/**
 * The given members, with `null` as the default and queues as ARNs. Throws `validation_failed`. Throws `conflict` if
 * the queue exists and `fifo` asks for the other kind.
 */
export async function queueSettings(
  deps: Pick<ApiDeps, 'queues' | 'consumers' | 'settings'>,
  arn: string,
  { fifo, ...input }: Input,
): Promise<Partial<QueueSettings>> {
  await checkKind(deps, arn, fifo ?? isFifoName(arn))
  if (input.leaseSeconds && ((await deps.consumers.of(arn)) ?? []).length > 0)
    throw FantailError.invalid('leaseSeconds', 'is not for a queue with push consumers')
  const members = Object.entries({ ...input, ...namedQueues(deps, input) })
  const given = members.filter(([, value]) => value !== undefined)
  const problems = FIFO_ONLY.filter((name) => !isFifoName(arn) && given.some(([key]) => key === name))
  if (problems.length > 0)
    throw invalid(problems.map((path) => ({ path, message: 'is for FIFO queues only' })))
  return Object.fromEntries(
    given.map(([name, value]) => [name, value ?? QUEUE.settingDefaults[name as keyof QueueSettings]]),
  )
}

async function checkKind({ queues }: Pick<ApiDeps, 'queues'>, arn: string, fifo: boolean): Promise<void> {
  if (fifo === isFifoName(arn)) return
  const message = `must be ${!fifo}, as the name ${fifo ? 'does not end' : 'ends'} in .fifo`
  if ((await queues.get(arn)) === null) throw FantailError.invalid('fifo', message)
  const details = [{ path: 'fifo', message }]
  throw new FantailError('conflict', 'the kind of a queue cannot be changed', { details })
}

function namedQueues({ settings }: Pick<ApiDeps, 'settings'>, input: Input): Partial<Input> {
  const { redrivePolicy, redriveAllowPolicy } = input
  const target = 'redrivePolicy.deadLetterTargetArn'
  const source = (i: number) => `redriveAllowPolicy.sourceQueueArns[${i}]`
  return {
    ...(redrivePolicy && {
      redrivePolicy: {
        ...redrivePolicy,
        deadLetterTargetArn: resolveQueue(redrivePolicy.deadLetterTargetArn, settings.arn, target),
      },
    }),
    ...(redriveAllowPolicy?.sourceQueueArns && {
      redriveAllowPolicy: {
        ...redriveAllowPolicy,
        sourceQueueArns: redriveAllowPolicy.sourceQueueArns.map((name, i) =>
          resolveQueue(name, settings.arn, source(i)),
        ),
      },
    }),
  }
}
