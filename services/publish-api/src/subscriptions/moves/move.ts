/**
 * Moves a subscription to another endpoint. Its id, keys, policies and waiting deliveries stay.
 *
 * - The subscription needed no confirmation: the endpoint changes at once.
 * - It is pending: the endpoint changes at once, and the new one is asked to confirm.
 * - It was confirmed by a handshake: the new endpoint is asked (move-questions.ts). The old one stays until the new one
 * has confirmed (confirmations.ts).
 */
import { FantailError, isFifoName, type SubscriptionRecord } from '@fantail/contracts'
import { PROTOCOL_TRAITS, readEndpoint } from '@fantail/policy'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { invalid, notFound } from '../../http/error-answers.ts'
import { visibleSubscription } from '../change.ts'
import { newToken, parkQuestion, takeConfirmation } from '../confirmations.ts'
import { type KeptEndpoint, keepMoved, type OutboundChange, outboundProblems } from '../outbound.ts'
import { noteLease, refuseMissingDevice, type SubscribeTools } from '../subscribe.ts'
import { servedProblems } from '../subscription-settings.ts'

type Tools = SubscribeTools & Pick<ApiDeps, 'moveQuestions'>

interface MoveRequest {
  /** The new endpoint, as the request has it. */
  endpoint: string
  outbound: OutboundChange | undefined
  /** Base of the links in a confirmation message. */
  publicUrl: string
}

/** Moves a subscription. Throws `not_found`, `validation_failed`, `subscription_exists` or `rate_limited`. */
export async function moveSubscription(
  deps: Tools,
  id: string,
  { endpoint, outbound, publicUrl }: MoveRequest,
): Promise<SubscriptionRecord> {
  const record = await visibleSubscription(deps, id)
  const url = readMoved(deps, record, endpoint)
  const problems = outboundProblems(outbound, record.protocol)
  if (problems.length > 0) throw invalid(problems)
  const kept = await keepMoved(deps, record, { url, outbound })
  await refuseMissingDevice(deps, kept, record.topicArn)
  await noteLease(deps, kept, record.topicArn)
  if (record.confirmation === 'none') return deps.subscriptions.move(id, () => ({ ...kept, move: null }))
  if (record.status === 'pending') return moveUnconfirmed(deps, record, kept, publicUrl)
  if (kept.endpoint === record.endpoint) return deps.subscriptions.move(id, () => ({ ...kept, move: null }))
  return askToMove(deps, record, kept, publicUrl)
}

/**
 * The endpoint in its stored form. Its protocol must be the subscription's, and a FIFO queue cannot become a standard
 * one or the reverse.
 */
function readMoved(deps: Tools, record: SubscriptionRecord, endpoint: string): string {
  const { isQueue, endpoint: kind } = PROTOCOL_TRAITS[record.protocol]
  const address = readEndpoint(endpoint, record.protocol, deps.settings.arn)
  if ('path' in address)
    throw FantailError.invalid('endpoint', `must be ${kind.name}, as the protocol is ${record.protocol}`)
  if (isQueue && isFifoName(address.endpoint) !== isFifoName(record.endpoint)) {
    const before = isFifoName(record.endpoint) ? 'a FIFO queue' : 'a standard queue'
    throw FantailError.invalid('endpoint', `must be ${before}, as it was`)
  }
  const problems = servedProblems(deps, address)
  if (problems.length > 0) throw invalid(problems)
  return address.endpoint
}

/** Moves a subscription that is not confirmed yet. Its lane has only questions for the old endpoint. */
async function moveUnconfirmed(
  deps: Tools,
  record: SubscriptionRecord,
  kept: KeptEndpoint,
  publicUrl: string,
): Promise<SubscriptionRecord> {
  await takeConfirmation(deps, { ...record, ...kept })
  const moved = await deps.subscriptions.move(record.id, () => ({ ...kept, ...newToken(deps, record.id) }))
  const place = await deps.subscriptions.locate(record.id)
  if (!place) throw notFound('subscription')
  await deps.lanes.purge(place.shard, record.id)
  await parkQuestion(deps, moved, publicUrl)
  return moved
}

async function askToMove(
  deps: Tools,
  record: SubscriptionRecord,
  kept: KeptEndpoint,
  publicUrl: string,
): Promise<SubscriptionRecord> {
  const { topicArn } = record
  const { items } = await deps.subscriptions.list({ topicArn, endpoint: kept.endpoint, limit: 1 })
  const [other] = items
  if (other) throw new FantailError('subscription_exists', `subscription ${other.id} has this endpoint`)
  await takeConfirmation(deps, { ...record, endpoint: kept.endpoint })
  const { endpoint, outbound = null, sealed = null } = kept
  const asked = await deps.subscriptions.update(record.id, () => ({
    move: { endpoint, outbound, sealed },
    ...newToken(deps, record.id),
  }))
  void deps.moveQuestions.ask(asked, publicUrl)
  return asked
}

/** Gives a moving subscription a new token, and asks its new endpoint again. Throws `rate_limited`. */
export async function askMoveAgain(
  deps: Tools,
  record: SubscriptionRecord & { move: object },
  publicUrl: string,
): Promise<SubscriptionRecord> {
  await takeConfirmation(deps, { ...record, ...record.move })
  const asked = await deps.subscriptions.update(record.id, (current) =>
    current.move ? newToken(deps, record.id) : {},
  )
  void deps.moveQuestions.ask(asked, publicUrl)
  return asked
}
