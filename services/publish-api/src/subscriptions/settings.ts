/** A subscription's settings: from a request's members, compared with those of one that exists, and their joint rules. */
import { isDeepStrictEqual } from 'node:util'
import {
  MAX_IN_FLIGHT_DEFAULT,
  type NewSubscriptionInput,
  type Problem,
  type Protocol,
  resolveQueue,
  type SubscriptionRecord,
} from '@fantail/contracts'
import { checkDeliveryPolicy, parseDeliveryPolicy } from '@fantail/policy'
import type { z } from 'zod'
import type { Settings } from '../deps.ts'

export type SubscriptionSettings = Pick<
  SubscriptionRecord,
  'deliveryPolicy' | 'rawMessageDelivery' | 'redrivePolicy' | 'maxInFlight'
>

type Input = Pick<z.output<typeof NewSubscriptionInput>, keyof SubscriptionSettings>

export const SETTING_DEFAULTS: SubscriptionSettings = {
  deliveryPolicy: null,
  rawMessageDelivery: false,
  redrivePolicy: null,
  maxInFlight: MAX_IN_FLIGHT_DEFAULT,
}

/** The members given, with what a reset (`null`) sets and queues by their ARN. */
export function settingsOf(input: Input, { arn }: Settings): Partial<SubscriptionSettings> {
  const { deliveryPolicy, rawMessageDelivery, redrivePolicy, maxInFlight } = input
  const path = 'redrivePolicy.deadLetterTargetArn'
  const target = redrivePolicy && {
    deadLetterTargetArn: resolveQueue(redrivePolicy.deadLetterTargetArn, arn, path),
  }
  return {
    ...(deliveryPolicy !== undefined && { deliveryPolicy: parseDeliveryPolicy(deliveryPolicy) }),
    ...(rawMessageDelivery !== undefined && { rawMessageDelivery: rawMessageDelivery ?? false }),
    ...(redrivePolicy !== undefined && { redrivePolicy: target ?? null }),
    ...(maxInFlight !== undefined && { maxInFlight: maxInFlight ?? MAX_IN_FLIGHT_DEFAULT }),
  }
}

/** True where each member given equals the record's. */
export function agrees(record: SubscriptionSettings, given: Partial<SubscriptionSettings>): boolean {
  const members = Object.keys(given) as (keyof SubscriptionSettings)[]
  return members.every((member) => isDeepStrictEqual(plain(record[member]), plain(given[member])))
}

/** Without prototypes and absent members, which say nothing. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

export interface PolicyContext {
  /** undefined: whatever is given does not tell. */
  protocol: Protocol | undefined
  raw: boolean
  settings: Settings
}

/** Everything wrong with a policy given for a subscription: which content types it may name depends on raw delivery. */
export function policyProblems(policy: unknown, { protocol, raw, settings }: PolicyContext): Problem[] {
  if (policy === undefined || policy === null) return []
  const path = 'deliveryPolicy'
  if (protocol === 'sqs') return [{ path, message: 'is for http and https subscriptions only' }]
  const { maxRetrySeconds } = settings
  return checkDeliveryPolicy(policy, { path, maxRetrySeconds, contentTypes: raw ? 'raw' : 'plain' })
}
