/** The ARN under which dead letters name a subscription, from its id or ARN. */
import { FantailError, parseArn, resolveSubscription } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'

/**
 * An ARN also works for a deleted subscription. An id needs the subscription's record. Throws `validation_failed` if
 * there is none.
 */
export async function subscriptionArnOf(
  { subscriptions }: Pick<ApiDeps, 'subscriptions'>,
  idOrArn: string,
  path = 'subscription',
): Promise<string> {
  if (parseArn(idOrArn)?.subscriptionId !== undefined) return idOrArn
  const record = await subscriptions.get(known(idOrArn, path))
  if (record) return record.arn
  throw unknownSubscription(path)
}

/** `path`: the member of the request that names the subscription. */
export function unknownSubscription(path: string): FantailError {
  return FantailError.invalid(path, 'names no subscription; a deleted one can be named by its ARN')
}

function known(idOrArn: string, path: string): string {
  try {
    return resolveSubscription(idOrArn)
  } catch (error) {
    throw new FantailError('validation_failed', `${path} must be a subscription’s id or ARN`, {
      details: [{ path, message: 'must be a subscription’s id or ARN' }],
      cause: error,
    })
  }
}
