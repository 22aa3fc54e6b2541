/** Draws the retry curves that webhooks have at SNS, and beside each the curve that they get here. */
import { isObject, isProtocol, objectOf, type RetryPolicy, SYSTEM_POLICY } from '@fantail/contracts'
import { effectivePolicy, PROTOCOL_TRAITS, previewRetries } from '@fantail/policy'
import type { CommandContext } from '../../../frame/command-context.ts'
import { durationText } from '../../../output/durations.ts'
import { counted } from '../../../output/text-table.ts'
import type { AwsSource } from './aws-source.ts'
import { ownPolicyOf } from './to-subscription.ts'
import { topicPolicyOf } from './to-topic.ts'

interface CurvePair {
  /** How many subscriptions have it. */
  subscriptions: number
  /** Seconds from the first attempt to each retry. */
  sns: number[]
  fantail: number[]
}

const CURVE_WIDTH = 40

export function showCurves(context: CommandContext, source: AwsSource): void {
  const { out } = context
  const pairs = curvesOf(source)
  if (pairs.length > 0 && !out.json && !out.quiet) out.line(out.style('bold', 'Retries of webhooks'))
  if (out.json || !out.quiet) for (const pair of pairs) out.item(pair, () => pairText(pair))
}

/** The most frequent pair first. */
export function curvesOf({ topics, subscriptions }: AwsSource): CurvePair[] {
  const policies = new Map(
    topics.map(({ arn, attributes }) => [arn, topicPolicyOf(attributes?.DeliveryPolicy)]),
  )
  const pairs = new Map<string, CurvePair>()
  for (const { topicArn, protocol, attributes } of subscriptions) {
    const topic = policies.get(topicArn)
    if (!topic || !attributes || !isProtocol(protocol) || !PROTOCOL_TRAITS[protocol].takes.deliveryPolicy)
      continue
    const own = { protocol, deliveryPolicy: ownPolicyOf(protocol, attributes.DeliveryPolicy) }
    const here = effectivePolicy(topic, own).healthyRetryPolicy
    const [sns, fantail] = [effectiveAtSns(attributes.EffectiveDeliveryPolicy) ?? here, here].map((policy) =>
      previewRetries(policy).map(({ atSeconds }) => atSeconds),
    ) as [number[], number[]]
    const key = JSON.stringify([sns, fantail])
    const pair = pairs.get(key) ?? { subscriptions: 0, sns, fantail }
    pair.subscriptions++
    pairs.set(key, pair)
  }
  return [...pairs.values()].sort((a, b) => b.subscriptions - a.subscriptions)
}

/** The policy that SNS itself says is in force. undefined: it does not say. */
function effectiveAtSns(text: string | undefined): RetryPolicy | undefined {
  const policy = text === undefined ? undefined : objectOf(text)?.healthyRetryPolicy
  return isObject(policy)
    ? { ...SYSTEM_POLICY.healthyRetryPolicy, ...(policy as Partial<RetryPolicy>) }
    : undefined
}

/** Both curves have the same scale. */
function pairText({ subscriptions, sns, fantail }: CurvePair): string {
  const isSame = JSON.stringify(sns) === JSON.stringify(fantail)
  const last = Math.max(sns.at(-1) ?? 0, fantail.at(-1) ?? 0) || 1
  return [
    `  ${counted(subscriptions, 'subscription')}: ${isSame ? 'the same curve here' : 'another curve here'}`,
    `    SNS      ${plotText(sns, last)}`,
    `    Fantail  ${plotText(fantail, last)}`,
  ].join('\n')
}

function plotText(retries: readonly number[], last: number): string {
  const marks = Array<string>(CURVE_WIDTH + 1).fill('·')
  for (const at of retries) marks[Math.round((at / last) * CURVE_WIDTH)] = '●'
  const end = retries.at(-1)
  const text =
    end === undefined
      ? 'no retries'
      : `${counted(retries.length, 'retry', 'retries')} in ${durationText(end * 1_000)}`
  return `${marks.join('')}  ${text}`
}
