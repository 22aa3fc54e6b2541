/** Saves a policy if the server draws the same curve from it. */
import type { RetryPolicy } from '@fantail/contracts'
import { previewRetries as drawnRetries } from '@fantail/policy'
import { operations } from '../../api/api-calls.ts'
import { ApiError } from '../../api/api-error.ts'
import type { Subscription } from '../../api/api-types.ts'
import { send } from '../../api/send.ts'
import { words } from '../../i18n/en.ts'

interface Input {
  path: { id: string }
  body: { deliveryPolicy: Subscription['deliveryPolicy'] }
}

export async function saveChecked(input: Input): Promise<Subscription> {
  const { deliveryPolicy } = input.body
  const { retries } = await send(operations.previewRetries, { body: { deliveryPolicy } })
  const drawn = drawnRetries(deliveryPolicy?.healthyRetryPolicy as RetryPolicy)
  if (JSON.stringify(retries) !== JSON.stringify(drawn)) {
    throw new ApiError({ code: 'conflict', message: words.curve.differs, status: 0 })
  }
  return send(operations.updateSubscription, input)
}
