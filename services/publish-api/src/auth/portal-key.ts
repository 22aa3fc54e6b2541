/** The caller of a portal route, and counts of the caller's actions. */
import type { Key } from '@fantail/access'
import { FantailError, isTopicName, type Protocol, topicArn } from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import type { ApiDeps } from '../deps/api-deps.ts'
import { invalid } from '../http/error-answers.ts'

export type PortalKey = Key & { portal: NonNullable<Key['portal']> }

/** The guard admits only portal sessions, unless keys are not required. */
export function portalKeyOf(caller: Key | null): PortalKey {
  if (caller?.portal) return { ...caller, portal: caller.portal }
  throw new FantailError('not_supported', 'no keys are asked for here, so there are no portal sessions')
}

/** Throws `validation_failed` if the text is no topic's name. */
export function portalTopicArn({ settings }: Pick<ApiDeps, 'settings'>, key: Key, name: string): string {
  if (!isTopicName(name)) throw invalid([{ path: 'topic', message: 'must be the name of a topic' }])
  return topicArn(name, { ...settings.arn, account: key.account })
}

/** Whether a portal session may see the subscription. Queues, functions and other kinds belong to the operator. */
export function isWebhook(protocol: Protocol): boolean {
  return PROTOCOL_TRAITS[protocol].takes.webhookKeys
}

interface Use {
  what: string
  max: number
  windowMs: number
}

/** Throws `rate_limited`. */
export async function countUse(
  { portalSessions }: Pick<ApiDeps, 'portalSessions'>,
  key: PortalKey,
  use: Use,
): Promise<void> {
  const waitMs = await portalSessions.countUse({ id: key.portal.id, ...use })
  if (waitMs === null) return
  const retryAfterSeconds = Math.ceil(waitMs / 1_000)
  throw new FantailError('rate_limited', `a portal session may do this ${use.max} times only`, {
    retryAfterSeconds,
  })
}
