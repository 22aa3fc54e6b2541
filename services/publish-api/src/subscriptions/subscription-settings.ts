/**
 * A subscription's settings: from a request's members, compared with those of one that exists, and their joint rules.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  type CircuitBreaker,
  type FilterPolicy,
  type FilterPolicyScope,
  isFifoName,
  MAX_IN_FLIGHT_DEFAULT,
  type NewSubscriptionInput,
  type Problem,
  type Protocol,
  type RetryMode,
  resolveQueue,
  type SubscriptionRecord,
} from '@fantail/contracts'
import { checkDeliveryPolicy, PROTOCOL_TRAITS, parseDeliveryPolicy, refusedSetting } from '@fantail/policy'
import type { z } from 'zod'
import type { Settings } from '../deps.ts'

export type SubscriptionSettings = Pick<
  SubscriptionRecord,
  'deliveryPolicy' | 'rawMessageDelivery' | 'redrivePolicy' | 'maxInFlight' | 'attributes'
> & {
  filterPolicy: FilterPolicy | null
  filterPolicyScope: FilterPolicyScope
  retryMode: RetryMode
  circuitBreaker: CircuitBreaker | null
}

type Input = Omit<z.output<typeof NewSubscriptionInput>, 'endpoint' | 'protocol' | 'confirmation'>

export const SETTING_DEFAULTS: SubscriptionSettings = {
  deliveryPolicy: null,
  rawMessageDelivery: false,
  redrivePolicy: null,
  maxInFlight: MAX_IN_FLIGHT_DEFAULT,
  filterPolicy: null,
  filterPolicyScope: 'MessageAttributes',
  retryMode: 'policy',
  circuitBreaker: null,
  attributes: {},
}

/** The members given, with what a reset (`null`) sets and queues by their ARN. */
export function settingsOf(input: Input, { arn }: Settings): Partial<SubscriptionSettings> {
  const { deliveryPolicy, rawMessageDelivery, redrivePolicy, maxInFlight } = input
  const { filterPolicy, filterPolicyScope, retryMode, circuitBreaker } = input
  const path = 'redrivePolicy.deadLetterTargetArn'
  const target = redrivePolicy && {
    deadLetterTargetArn: resolveQueue(redrivePolicy.deadLetterTargetArn, arn, path),
  }
  return {
    ...(deliveryPolicy !== undefined && { deliveryPolicy: parseDeliveryPolicy(deliveryPolicy) }),
    ...(rawMessageDelivery !== undefined && { rawMessageDelivery: rawMessageDelivery ?? false }),
    ...(redrivePolicy !== undefined && { redrivePolicy: target ?? null }),
    ...(maxInFlight !== undefined && { maxInFlight: maxInFlight ?? MAX_IN_FLIGHT_DEFAULT }),
    ...(filterPolicy !== undefined && { filterPolicy: isEmpty(filterPolicy) ? null : filterPolicy }),
    ...(filterPolicyScope !== undefined && {
      filterPolicyScope: filterPolicyScope ?? SETTING_DEFAULTS.filterPolicyScope,
    }),
    ...(retryMode !== undefined && { retryMode: retryMode ?? SETTING_DEFAULTS.retryMode }),
    ...(circuitBreaker !== undefined && { circuitBreaker }),
  }
}

/** A filter without keys is none. */
function isEmpty(policy: FilterPolicy | null): policy is null {
  return policy === null || Object.keys(policy).length === 0
}

/** True where each member given equals the record's, whose absent members have their defaults. */
export function agrees(record: SubscriptionRecord, given: Partial<SubscriptionSettings>): boolean {
  const members = Object.keys(given) as (keyof SubscriptionSettings)[]
  return members.every((member) =>
    isDeepStrictEqual(plain(record[member] ?? SETTING_DEFAULTS[member]), plain(given[member])),
  )
}

/** Without prototypes and absent members, which say nothing. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

export interface PolicyContext {
  /** Undefined if the given members do not determine it. */
  protocol: Protocol | undefined
  raw: boolean
  settings: Settings
}

/** Everything wrong with a policy given for a subscription: which content types it may name depends on raw delivery. */
export function policyProblems(policy: unknown, { protocol, raw, settings }: PolicyContext): Problem[] {
  if (policy === undefined || policy === null) return []
  const path = 'deliveryPolicy'
  const message = refusedSetting(protocol, 'deliveryPolicy')
  if (message !== undefined) return [{ path, message }]
  const { maxRetrySeconds } = settings
  return checkDeliveryPolicy(policy, { path, maxRetrySeconds, contentTypes: raw ? 'raw' : 'plain' })
}

type Paced = Partial<Pick<SubscriptionRecord, 'retryMode' | 'circuitBreaker'>> & {
  protocol: Protocol | undefined
}

export function pacingProblems({ protocol, retryMode, circuitBreaker }: Paced): Problem[] {
  const message = refusedSetting(protocol, 'pacing')
  if (message === undefined) return []
  const given = [
    ...(retryMode && retryMode !== 'policy' ? ['retryMode'] : []),
    ...(circuitBreaker ? ['circuitBreaker'] : []),
  ]
  return given.map((path) => ({ path, message }))
}

export type Ordered = Pick<SubscriptionRecord, 'topicArn' | 'protocol' | 'endpoint' | 'redrivePolicy'>

/** FIFO and standard topics and queues that cannot be combined (checklist 146, 147, 158). */
export function orderingProblems({ topicArn, protocol, endpoint, redrivePolicy }: Ordered): Problem[] {
  const ordered = isFifoName(topicArn)
  const fifoQueue = PROTOCOL_TRAITS[protocol].isQueue && isFifoName(endpoint)
  const problems: Problem[] = []
  if (fifoQueue && !ordered) {
    problems.push({ path: 'endpoint', message: 'must be a standard queue, as the topic is a standard one' })
  }
  if (!redrivePolicy) return problems
  const fifoDeadLetters = isFifoName(redrivePolicy.deadLetterTargetArn)
  const path = 'redrivePolicy.deadLetterTargetArn'
  if (fifoQueue && ordered && !fifoDeadLetters) {
    problems.push({ path, message: 'must be a FIFO queue, as the topic and the subscribed queue are' })
  }
  if (!ordered && fifoDeadLetters) {
    problems.push({ path, message: 'must be a standard queue, as the topic is a standard one' })
  }
  return problems
}
