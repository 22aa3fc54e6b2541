/** Names of the subscriptions of dead letters, so that a reader needs no request for each of them. */
import { isVisible } from '@fantail/access'
import { parseArn, type SubscriptionRecord } from '@fantail/contracts'
import { maskCredentials } from '@fantail/delivery'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'

/** ARN of a subscription → its name, or its endpoint if it has no name. */
export type SubscriptionNames = ReadonlyMap<string, string>

/** `arns`: of the groups of one answer. Subscriptions that are gone or that the caller must not see are missing. */
export async function subscriptionNames(
  { subscriptions }: Pick<ApiDeps, 'subscriptions'>,
  caller: Call['caller'],
  arns: readonly string[],
): Promise<SubscriptionNames> {
  const ids = new Set(arns.flatMap((arn) => parseArn(arn)?.subscriptionId ?? []))
  const records = await Promise.all([...ids].map((id) => subscriptions.get(id)))
  const seen = records.filter((record) => record !== null && isVisible(caller, record.topicArn))
  return new Map(seen.flatMap((record) => (record ? [[record.arn, nameOf(record)]] : [])))
}

function nameOf({ name, endpoint }: SubscriptionRecord): string {
  return name ?? maskCredentials(endpoint)
}
