/** Routes that try a delivery policy or a filter policy before it is set. */
import { isObject, type Problem, RETENTION_SECONDS_DEFAULT, resolveTopic } from '@fantail/contracts'
import { PreviewAnswer, PreviewInput } from '@fantail/contracts/schemas/delivery-policy-schemas'
import {
  FilterTestAnswer,
  FilterTestInput,
} from '@fantail/contracts/schemas/subscriptions/filter-policy-schemas'
import { textForProtocol } from '@fantail/delivery'
import {
  checkDeliveryPolicy,
  effectivePolicy,
  endsByRetention,
  PRESETS,
  parseDeliveryPolicy,
  previewRetries,
  totalRetrySeconds,
  VALUES_SHOWN_MAX,
} from '@fantail/policy'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { readMessages } from '../../messages/read-messages.ts'
import { type FilterTrials, filterProblems } from '../../subscriptions/filters.ts'
import { filterReplayRoute } from '../messages/filter-replay.ts'

/** The route that previews a delivery policy before it is set. */
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

/** Tries a filter policy on a message, clause by clause, to explain why the message would be delivered or not. */
export function filterPolicyRoutes(deps: ApiDeps, trials: FilterTrials): Endpoint[] {
  return [
    filterReplayRoute(deps, trials, problemsOf),
    endpoint({
      id: 'testFilterPolicy',
      method: 'POST',
      path: '/v1/filter-policies/test',
      tag: 'Filter policies',
      summary: 'Which clauses of a filter policy a message satisfies',
      description:
        'Nothing is published or changed. Clauses of a rule are judged one by one; if several lie under one array, they must hold in the same element, ' +
        'so that `matched` may be false although each clause is. ' +
        `At most ${VALUES_SHOWN_MAX} values of a key that satisfy nothing are shown.`,
      body: FilterTestInput,
      check: problemsOf,
      answers: { 200: { description: 'Verdict by clause', schema: FilterTestAnswer } },
      handle: ({ body }) => tryFilter(body, trials),
    }),
  ]
}

function problemsOf({ filterPolicy, filterPolicyScope }: Record<string, unknown>): Problem[] {
  if (!isObject(filterPolicy)) return []
  return filterProblems({
    filterPolicy,
    filterPolicyScope: filterPolicyScope === 'MessageBody' ? filterPolicyScope : 'MessageAttributes',
  })
}

async function tryFilter(
  { message, protocol = 'http', ...filtering }: z.output<typeof FilterTestInput>,
  trials: FilterTrials,
): Promise<Answer> {
  const written = JSON.stringify(message)
  const [given] = readMessages(written).messages
  const { structure, attributes } = given ?? {}
  const text = textForProtocol({ message: given?.message ?? '', ...(structure && { structure }) }, protocol)
  const bytes = Buffer.byteLength(written)
  return ok(await trials.explain({ filtering, message: text, attributes, bytes }))
}
