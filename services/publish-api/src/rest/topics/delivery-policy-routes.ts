/** The route that previews a delivery policy before it is set. */
import { type Problem, RETENTION_SECONDS_DEFAULT, resolveTopic } from '@fantail/contracts'
import { PreviewAnswer, PreviewInput } from '@fantail/contracts/schemas/delivery-policy-schemas'
import {
  checkDeliveryPolicy,
  effectivePolicy,
  endsByRetention,
  PRESETS,
  parseDeliveryPolicy,
  previewRetries,
  totalRetrySeconds,
} from '@fantail/policy'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'

export function deliveryPolicyRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'previewRetries',
      method: 'POST',
      path: '/v1/delivery-policies/preview',
      tag: 'Delivery policies',
      summary: 'When the retries of a delivery policy would come',
      description:
        'Nominal times after the first attempt, before jitter and without what the attempts themselves take, and whether ' +
        'the topic’s retention ends first. Lists the presets, too. Nothing is changed.',
      body: PreviewInput,
      check: problemsOfPolicy,
      answers: { 200: { description: 'Every retry', schema: PreviewAnswer } },
      errors: ['not_found'],
      handle: ({ body }) => preview(deps, body),
    }),
  ]
}

function problemsOfPolicy(body: Record<string, unknown>): Problem[] {
  // The kind of subscription is unknown in a preview. Raw subscriptions allow every content type that others allow, so
  // their rule is used.
  return checkDeliveryPolicy(body.deliveryPolicy, { path: 'deliveryPolicy', contentTypes: 'raw' })
}

async function preview(
  deps: ApiDeps,
  { deliveryPolicy, topic }: z.output<typeof PreviewInput>,
): Promise<Answer> {
  const own = { deliveryPolicy: parseDeliveryPolicy(deliveryPolicy) }
  const shared = await topicPolicy(deps, topic)
  const { healthyRetryPolicy } = effectivePolicy(shared, own)
  const totalSeconds = totalRetrySeconds(healthyRetryPolicy)
  const { retentionSeconds } = shared
  return ok({
    retries: previewRetries(healthyRetryPolicy),
    totalSeconds,
    retentionSeconds,
    retentionEndsFirst: endsByRetention(totalSeconds, retentionSeconds),
    jitter: deps.settings.retryJitter,
    presets: PRESET_VIEWS,
  })
}

const PRESET_VIEWS = Object.entries(PRESETS).map(([name, { description, policy }]) => ({
  name,
  description,
  healthyRetryPolicy: policy,
  totalSeconds: totalRetrySeconds(policy),
}))

async function topicPolicy(deps: ApiDeps, topic: string | undefined) {
  if (topic === undefined) {
    return {
      deliveryPolicy: null,
      disableSubscriptionOverrides: false,
      retentionSeconds: RETENTION_SECONDS_DEFAULT,
    }
  }
  const found = await deps.topics.get(resolveTopic(topic, deps.settings.arn))
  if (!found) throw notFound('topic')
  return found
}
