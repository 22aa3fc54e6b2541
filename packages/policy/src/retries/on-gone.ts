/** Decides about endpoints that answer 410 (Gone, RFC 9110 §15.5.11). */
import type { OnGone, SubscriptionRecord } from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '../protocols/traits.ts'

/**
 * Standard Webhooks asks senders to disable an endpoint that answers 410, and SNS dead-letters each delivery. So the
 * API that made the subscription decides, unless the setting does. null: it is no webhook.
 */
export function actionOnGone({
  protocol,
  origin,
  onGone,
}: Pick<SubscriptionRecord, 'protocol' | 'origin' | 'onGone'>): OnGone | null {
  if (!PROTOCOL_TRAITS[protocol].takes.webhookKeys) return null
  return onGone ?? (origin === 'native' ? 'pause' : 'deadLetter')
}
