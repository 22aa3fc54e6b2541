/** Subscribing: a new subscription, or the one that has the same topic and endpoint. */
import {
  FantailError,
  type NewSubscriptionInput,
  type Problem,
  type SubscriptionRecord,
} from '@fantail/contracts'
import { placeOfSubscription } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps.ts'
import { invalid, notFound } from '../http/errors.ts'
import { askAgain, askToConfirm, createToken } from './confirmations.ts'
import { readEndpoint } from './endpoint-address.ts'
import { agrees, policyProblems, SETTING_DEFAULTS, settingsOf } from './settings.ts'

export interface Subscribe {
  topicArn: string
  input: z.output<typeof NewSubscriptionInput>
  /** Base of the links in a confirmation message. */
  publicUrl: string
}

export interface Subscribed {
  subscription: SubscriptionRecord
  created: boolean
}

/** What a schema cannot tell of a new subscription's body. */
export function newSubscriptionProblems(deps: ApiDeps, body: Record<string, unknown>): Problem[] {
  const { endpoint, protocol, confirmation, rawMessageDelivery } = body
  const known = protocol === 'http' || protocol === 'https' || protocol === 'sqs' ? protocol : undefined
  const address =
    typeof endpoint === 'string' && endpoint !== ''
      ? readEndpoint(endpoint, known, deps.settings.arn)
      : undefined
  const problems = address && 'path' in address ? [address] : []
  const found = address && 'protocol' in address ? address.protocol : undefined
  if (found === 'sqs' && confirmation === 'handshake') {
    problems.push({ path: 'confirmation', message: 'must be none where the endpoint is a queue' })
  }
  const context = { protocol: found, raw: rawMessageDelivery === true, settings: deps.settings }
  return [...problems, ...policyProblems(body.deliveryPolicy, context)]
}

/** `not_found`, `subscription_exists`. */
export async function subscribe(
  deps: ApiDeps,
  { topicArn, input, publicUrl }: Subscribe,
): Promise<Subscribed> {
  const address = readEndpoint(input.endpoint, input.protocol, deps.settings.arn)
  if ('path' in address) throw invalid([address])
  const given = settingsOf(input, deps.settings)
  const confirmation = input.confirmation ?? 'none'
  const topic = await deps.topics.get(topicArn)
  if (!topic) throw notFound('topic')
  const { subscription, created } = await deps.subscriptions.create({
    topicArn,
    ...address,
    ...SETTING_DEFAULTS,
    ...given,
    confirmation,
    ...(confirmation === 'handshake' && createToken(topic.uid, deps.clock())),
    attributes: {},
  })
  const agreeing =
    agrees(subscription, given) &&
    (input.confirmation ?? subscription.confirmation) === subscription.confirmation
  if (!created && !agreeing) {
    const message = `subscription ${subscription.id} has this endpoint with other settings`
    throw new FantailError('subscription_exists', message)
  }
  await registerDeadLetters(deps, subscription)
  if (subscription.status !== 'pending') return { subscription, created }
  // Where the topic was made anew between the two, its token would not be found.
  const asked = created && placeOfSubscription(subscription.id)?.topicUid === topic.uid
  if (asked) await askToConfirm(deps, subscription, publicUrl)
  else return { subscription: await askAgain(deps, subscription.id, publicUrl), created }
  return { subscription, created }
}

/** After the subscription, whose ARN is not known before; repeating the request repairs what a crash left out. */
async function registerDeadLetters(
  { queues }: ApiDeps,
  { arn, redrivePolicy }: SubscriptionRecord,
): Promise<void> {
  if (redrivePolicy) await queues.addSource(redrivePolicy.deadLetterTargetArn, arn)
}
