/** Routes that show the recorded attempts of a subscription, or of one of its deliveries. */
import { seesBodies } from '@fantail/access'
import { parseMessageId, RECORDING_DEFAULT } from '@fantail/contracts'
import { AttemptsAnswer } from '@fantail/contracts/schemas/messages/attempt-schemas'
import { MessageReference } from '@fantail/contracts/schemas/messages/message-schemas'
import { SubscriptionReference } from '@fantail/contracts/schemas/shared-schemas'
import type { AttemptRecord } from '@fantail/store'
import { attemptViews } from '../../attempts/attempt-views.ts'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, idOf, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { isoOrNull } from '../../http/record-views.ts'
import { visibleSubscription } from '../../subscriptions/change.ts'

const ABOUT =
  'Attempts are recorded where the topic asks for it (`recordAttempts`), at most 300 a second by each worker, 20 successes of a subscription among them. The newest ' +
  '100 of each subscription are kept, within a bound of bytes over all. A worker writes them once a second, so a crash ' +
  'loses the last ones. A key without the scope `bodies` sees no bodies.'

export function attemptRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'listAttempts',
      method: 'GET',
      path: '/v1/subscriptions/{id}/attempts',
      params: { id: SubscriptionReference },
      tag: 'Subscriptions',
      summary: 'List recorded attempts of a subscription',
      description: ABOUT,
      answers: { 200: { description: 'The newest attempts, newest first', schema: AttemptsAnswer } },
      errors: ['not_found'],
      handle: (call) => readAttempts(deps, call, () => true),
    }),
    endpoint({
      id: 'listDeliveryAttempts',
      method: 'GET',
      path: '/v1/messages/{messageId}/deliveries/{id}/attempts',
      params: { messageId: MessageReference, id: SubscriptionReference },
      tag: 'Messages',
      summary: 'List recorded attempts of a delivery',
      description: `${ABOUT} Attempts of the message that are older than \`keptSince\` are not kept.`,
      answers: { 200: { description: 'Its attempts, newest first', schema: AttemptsAnswer } },
      errors: ['not_found'],
      handle: (call) => {
        const messageId = call.params.messageId ?? ''
        if (parseMessageId(messageId) === undefined) throw notFound('message')
        return readAttempts(deps, call, (attempt) => attempt.messageId === messageId)
      },
    }),
  ]
}

async function readAttempts(
  deps: ApiDeps,
  call: Call,
  isWanted: (attempt: AttemptRecord) => boolean,
): Promise<Answer> {
  const { id, topicArn } = await visibleSubscription(deps, idOf(call))
  const [topic, records] = await Promise.all([deps.topics.get(topicArn), deps.attempts.read(id)])
  if (!topic) throw notFound('subscription')
  const showsBodies = seesBodies(call.caller)
  return ok({
    recording: topic.recordAttempts ?? RECORDING_DEFAULT[deps.settings.mode],
    bodies: showsBodies ? 'shown' : 'withheld',
    keptSince: isoOrNull(records.at(-1)?.startedAt ?? null),
    attempts: attemptViews(records, showsBodies).filter((_, i) => isWanted(records[i] as AttemptRecord)),
  })
}
