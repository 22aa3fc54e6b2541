/** Gives SQS's text to the store's refusal of a dead-letter queue. */
import { FantailError } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { invalidValue } from '../wire/sqs-error.ts'

/**
 * Returns the result of `work`. `policy`: the RedrivePolicy that it writes, as given. `target`: the queue that the
 * policy names.
 */
export async function withTarget<T>(
  { queues }: Pick<ApiDeps, 'queues'>,
  { policy, target }: { policy: string | undefined; target: string | undefined },
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (policy === undefined || target === undefined || !isTargetRefused(error)) throw error
    const reason =
      (await queues.get(target)) === null
        ? 'Dead letter target does not exist.'
        : 'Dead letter target does not allow this queue as a source.'
    throw invalidValue('RedrivePolicy', policy, reason)
  }
}

function isTargetRefused(error: unknown): boolean {
  return (
    error instanceof FantailError &&
    error.code === 'validation_failed' &&
    error.details?.[0]?.path === 'redrivePolicy.deadLetterTargetArn'
  )
}
