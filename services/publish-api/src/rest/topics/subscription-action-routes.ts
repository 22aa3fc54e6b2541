/** Actions on a subscription that do not change its settings. */
import { setTimeout as delay } from 'node:timers/promises'
import {
  CONFIRMATIONS_PER_ENDPOINT_MAX,
  CONFIRMATIONS_PER_HOST_MAX,
  type ErrorCode,
  FantailError,
  parseMessageId,
  type SubscriptionRecord,
} from '@fantail/contracts'
import { TestInput } from '@fantail/contracts/schemas/messages/message-schemas'
import { NoBody, SubscriptionReference } from '@fantail/contracts/schemas/shared-schemas'
import {
  ConfirmInput,
  DiscardedAnswer,
  MovedAnswer,
  RetryInput,
  SetAsideAnswer,
  SetAsideInput,
  TestAnswer,
} from '@fantail/contracts/schemas/subscriptions/subscription-action-schemas'
import { SubscriptionView } from '@fantail/contracts/schemas/subscriptions/subscription-schemas'
import type { SetAside } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, idOf, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { publicUrlFor } from '../../http/origin.ts'
import { nextLetterQueueOf } from '../../redrives/dead-letter-sources.ts'
import { changeStatus, reportState, visibleSubscription } from '../../subscriptions/change.ts'
import { askAgain, confirm } from '../../subscriptions/confirmations.ts'
import { askMoveAgain } from '../../subscriptions/moves/move.ts'
import { showSubscription } from '../../subscriptions/subscription-views.ts'
import { testSubscription } from '../../subscriptions/test-attempt.ts'

const ERRORS: ErrorCode[] = ['not_found', 'wrong_state', 'conflict']

export function subscriptionActionRoutes(deps: ApiDeps): Endpoint[] {
  const action = (id: string, name: string, summary: string) => ({
    id,
    method: 'POST' as const,
    path: `/v1/subscriptions/{id}/${name}`,
    params: { id: SubscriptionReference },
    tag: 'Subscriptions' as const,
    summary,
    errors: ERRORS,
  })
  const subscription = { 200: { description: 'The subscription as it is now', schema: SubscriptionView } }
  return [
    endpoint({
      ...action('pauseSubscription', 'pause', 'Stop attempts; messages are still kept for it'),
      description:
        'No further attempt begins, but attempts under way end. New messages wait in the lane and expire by the topic’s ' +
        'retention. Pausing a paused subscription changes nothing.',
      body: NoBody,
      bodyIs: 'optional',
      answers: subscription,
      handle: (call) => setStatus(deps, call, 'paused'),
    }),
    endpoint({
      ...action('resumeSubscription', 'resume', 'Continue attempts'),
      description: 'Waiting deliveries are attempted again. Resuming an active subscription changes nothing.',
      body: NoBody,
      bodyIs: 'optional',
      answers: subscription,
      handle: (call) => setStatus(deps, call, 'active'),
    }),
    endpoint({
      ...action('confirmSubscription', 'confirm', 'Confirm a pending subscription with its token'),
      description:
        'The token is in the confirmation request that the endpoint got. Confirming again with the same token ' +
        'answers the same.',
      body: ConfirmInput,
      answers: subscription,
      handle: (call) => confirmByToken(deps, call),
    }),
    endpoint({
      ...action(
        'sendConfirmation',
        'send-confirmation',
        'Ask a pending subscription’s endpoint once more, with a new token',
      ),
      description: `Tokens that were sent before count no more. At most ${CONFIRMATIONS_PER_ENDPOINT_MAX} times an hour for an endpoint and topic, and ${CONFIRMATIONS_PER_HOST_MAX} for a host and account.`,
      body: NoBody,
      bodyIs: 'optional',
      answers: subscription,
      errors: [...ERRORS, 'rate_limited'],
      handle: (call) => sendConfirmation(deps, call),
    }),
    endpoint({
      ...action('retryNow', 'retry', 'Make everything that waits for a retry due now'),
      description:
        'Use it when an endpoint is back, so that deliveries need not wait out their delays. Attempts made so far still ' +
        'count. No delivery comes later than without this call. An open circuit sends its next probe now.',
      body: RetryInput,
      bodyIs: 'optional',
      answers: { 200: { description: 'How many were moved', schema: MovedAnswer } },
      handle: (call) => retryNow(deps, call),
    }),
    endpoint({
      ...action('setMessageAside', 'set-aside', 'Dead-letter one waiting message, so that the others go on'),
      description:
        'For a message that fails again and again while its FIFO group waits behind it. It goes to the subscription’s ' +
        'dead-letter queue once, with the reason `setAside`, and the next message of its group follows. Answers 409 ' +
        'while an attempt at it is under way, and if the subscription has no dead-letter queue. Repeating it changes ' +
        'nothing.',
      body: SetAsideInput,
      answers: { 202: { description: 'It goes to the queue', schema: SetAsideAnswer } },
      handle: (call) => setMessageAside(deps, call),
    }),
    endpoint({
      ...action('purgeSubscription', 'purge', 'Discard everything that waits'),
      description:
        'Discarded deliveries are counted and go to no dead-letter queue. Attempts under way end as they would have.',
      body: NoBody,
      bodyIs: 'optional',
      answers: { 200: { description: 'How many were discarded', schema: DiscardedAnswer } },
      handle: (call) => purge(deps, call),
    }),
    endpoint({
      ...action(
        'testSubscription',
        'test',
        'Make one attempt at once, outside the lane, with a message of its own or the one given',
      ),
      description:
        'Nothing is retried, counted or dead-lettered. It is made as a delivery is, and refused by what a delivery would be refused by: a queue’s policy and limits, ' +
        'secrets that cannot be opened. Without a message it sends a JSON object, which the verifiers of Standard Webhooks can parse. ' +
        'The answer has the request as it was sent, the endpoint’s answer and the times of both. A key without the scope `bodies` sees no bodies.',
      body: TestInput,
      bodyIs: 'optional',
      answers: { 200: { description: 'The attempt was made. It may have failed.', schema: TestAnswer } },
      handle: async (call) => ok(await testSubscription(deps, call, call.body)),
    }),
  ]
}

/** Writes a log line about the change, and returns the changed subscription. */
async function changed(
  deps: ApiDeps,
  call: Call,
  record: SubscriptionRecord,
  event: string,
): Promise<Answer> {
  reportState(deps, call, record, event)
  return ok(await showSubscription(deps, record))
}

async function setStatus(deps: ApiDeps, call: Call, status: 'paused' | 'active'): Promise<Answer> {
  return ok(
    await showSubscription(
      deps,
      await changeStatus(deps, { id: idOf(call), requestId: call.requestId }, status),
    ),
  )
}

async function confirmByToken(
  deps: ApiDeps,
  call: Call<unknown, z.output<typeof ConfirmInput>>,
): Promise<Answer> {
  const record = await visibleSubscription(deps, idOf(call))
  if (record.token === null) throw new FantailError('wrong_state', 'it needs no confirmation')
  const confirmed = await confirm(deps, record, call.body.token)
  if (!confirmed) throw FantailError.invalid('token', 'is not this subscription’s, or has expired')
  return changed(deps, call, confirmed, 'subscription.confirmed')
}

async function sendConfirmation(deps: ApiDeps, call: Call): Promise<Answer> {
  const publicUrl = publicUrlFor(deps.settings, call)
  const { move, ...known } = await visibleSubscription(deps, idOf(call))
  const record = move
    ? await askMoveAgain(deps, { ...known, move }, publicUrl)
    : await askAgain(deps, known.id, publicUrl)
  return changed(deps, call, record, 'subscription.confirmation_sent')
}

async function retryNow(deps: ApiDeps, call: Call<unknown, z.output<typeof RetryInput>>): Promise<Answer> {
  const { id, shard } = await laneOf(deps, call)
  const { maxPerSecond } = call.body
  const moved = await deps.lanes.retryNow(shard, id, maxPerSecond === undefined ? {} : { maxPerSecond })
  deps.log.info(
    { requestId: call.requestId, subscriptionId: id, moved, maxPerSecond },
    'subscription.retried',
  )
  return ok({ moved })
}

async function purge(deps: ApiDeps, call: Call): Promise<Answer> {
  const { id, shard } = await laneOf(deps, call)
  const discarded = await deps.lanes.purge(shard, id)
  deps.log.info({ requestId: call.requestId, subscriptionId: id, discarded }, 'subscription.purged')
  return ok({ discarded })
}

/** How long a request waits for the end of an attempt. Past it: `wrong_state`. */
const SET_ASIDE_TRIES_MAX = 20
const SET_ASIDE_PAUSE_MS = 100
const NO_LETTERS =
  'the subscription has no dead-letter queue, so the message would be lost: give it a `redrivePolicy` first'

async function setMessageAside(
  deps: ApiDeps,
  call: Call<unknown, z.output<typeof SetAsideInput>>,
): Promise<Answer> {
  const { messageId } = call.body
  const message = parseMessageId(messageId)
  if (!message) throw FantailError.invalid('messageId', 'must be the id of a message')
  const record = await visibleSubscription(deps, idOf(call))
  const { id, shard } = await laneOf(deps, call)
  const queueArn = await nextLetterQueueOf(deps, record)
  if (queueArn === undefined) throw new FantailError('wrong_state', NO_LETTERS)
  const what = await setAside(() => deps.lanes.setAside(shard, id, message))
  if (what === 'noQueue') throw new FantailError('wrong_state', NO_LETTERS)
  if (what === 'missing') throw notFound('message among those that this subscription gets next')
  if (what === 'inFlight')
    throw new FantailError(
      'wrong_state',
      'an attempt at the message is under way: try again when it has ended',
    )
  deps.log.info({ requestId: call.requestId, subscriptionId: id, messageId }, 'subscription.set_aside')
  return { status: 202, body: { messageId, queueArn } }
}

/** An attempt usually ends soon, and the message then waits for its next one. */
async function setAside(once: () => Promise<SetAside>): Promise<SetAside> {
  for (let tries = 1; ; tries++) {
    const what = await once()
    if (what !== 'inFlight' || tries === SET_ASIDE_TRIES_MAX) return what
    await delay(SET_ASIDE_PAUSE_MS)
  }
}

async function laneOf(deps: ApiDeps, call: Call): Promise<{ id: string; shard: number }> {
  const { id } = await visibleSubscription(deps, idOf(call))
  const place = await deps.subscriptions.locate(id)
  if (!place) throw notFound('subscription')
  return { id, shard: place.shard }
}
