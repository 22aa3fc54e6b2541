/** Reads the resource that a path names. */
import type { ApiSettings } from '@fantail/config'
import { resolveQueue, resolveSubscription } from '@fantail/contracts'
import type { Call } from './endpoint.ts'

/** The subscription that a path names by id or ARN. */
export function idOf(call: Call): string {
  return resolveSubscription(call.params.id ?? '')
}

/** The ARN of the queue that a path names. */
export function queueOf({ settings }: { settings: Pick<ApiSettings, 'arn'> }, { params }: Call): string {
  return resolveQueue(params.queue ?? '', settings.arn)
}
