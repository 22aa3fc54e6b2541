/**
 * Confirms and restores subscriptions (checklist 55 to 66, 74, 75).
 *
 * subscribe with handshake → pending ─ token → active
 * unsubscribe by link → unsubscribed (invisible, nothing waits) ─ token → as it was before
 *
 * In both states the subscription is deleted when its token expires, after 48 hours. The message with a token goes
 * through the subscription's own lane, so it is retried like any other. A token is kept after its use, so confirming
 * twice has the same result.
 */
import { timingSafeEqual } from 'node:crypto'
import {
  CONFIRMATION_MAILS_PER_ADDRESS_MAX,
  CONFIRMATION_MAILS_PER_KEY_MAX,
  CONFIRMATION_SECONDS,
  CONFIRMATIONS_PER_ENDPOINT_MAX,
  CONFIRMATIONS_PER_HOST_MAX,
  createMessageId,
  FantailError,
  isFifoName,
  type Message,
  type MessageKind,
  type SubscriptionRecord,
} from '@fantail/contracts'
import { canBeAsked, PROTOCOL_TRAITS } from '@fantail/policy'
import { createConfirmationToken, deliveryId, messageBody, placeOfSubscription } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import { notFound } from '../http/error-answers.ts'
import { deleteSubscription } from './change.ts'

type Confirming = Pick<
  ApiDeps,
  'addressGuard' | 'clock' | 'confirmationLimits' | 'lanes' | 'queues' | 'subscriptions' | 'vault'
>

type Tools = Pick<ApiDeps, 'subscriptions' | 'confirmationLimits' | 'lanes' | 'clock'>

interface Token {
  token: string
  tokenExpiresAt: number
}

export function createToken(topicUid: string, now: number): Token {
  return { token: createConfirmationToken(topicUid), tokenExpiresAt: now + CONFIRMATION_SECONDS * 1_000 }
}

export function newToken({ clock }: Pick<Tools, 'clock'>, id: string): Token {
  const place = placeOfSubscription(id)
  if (!place) throw notFound('subscription')
  return createToken(place.topicUid, clock())
}

/**
 * Parks the message that asks a new subscription's endpoint to confirm. Throws `rate_limited`; the subscription then
 * stays pending.
 */
export async function askToConfirm(
  deps: Tools,
  record: SubscriptionRecord,
  publicUrl: string,
): Promise<void> {
  await takeConfirmation(deps, record)
  await parkQuestion(deps, record, publicUrl)
}

const ASKED_LIMITED =
  `this endpoint was asked to confirm ${CONFIRMATIONS_PER_ENDPOINT_MAX} times for this topic within an hour, ` +
  `or its host ${CONFIRMATIONS_PER_HOST_MAX} times for this account; a message that it got still confirms`
const MAILS_LIMITED =
  `this address got ${CONFIRMATION_MAILS_PER_ADDRESS_MAX} mails within a day that ask it to confirm, ` +
  `or this key has sent ${CONFIRMATION_MAILS_PER_KEY_MAX}; a mail that came still confirms`

/** Counts the message, because the endpoint may belong to somebody who did not ask for it (confirmation-limits.ts). */
export async function takeConfirmation(
  { confirmationLimits }: Pick<Tools, 'confirmationLimits'>,
  record: Pick<SubscriptionRecord, 'topicArn' | 'endpoint' | 'protocol' | 'principal'>,
): Promise<void> {
  const waitMs = await confirmationLimits.take(record)
  if (waitMs === 0) return
  const text = PROTOCOL_TRAITS[record.protocol].confirmedBy === 'person' ? MAILS_LIMITED : ASKED_LIMITED
  throw new FantailError('rate_limited', text, { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}

export const CONFIRMATION_TEXT = (topicArn: string) =>
  `You have chosen to subscribe to the topic ${topicArn}.\nTo confirm the subscription, visit the SubscribeURL included in this message.`

export async function parkQuestion(
  deps: Tools,
  record: SubscriptionRecord,
  publicUrl: string,
): Promise<void> {
  const text = CONFIRMATION_TEXT(record.topicArn)
  await parkMessage(deps, record, { kind: 'SubscriptionConfirmation', text, publicUrl })
}

/**
 * Gives a pending subscription a new token, and asks again. Throws `rate_limited`, and `wrong_state` if it is not
 * pending.
 */
export async function askAgain(deps: Tools, id: string, publicUrl: string): Promise<SubscriptionRecord> {
  const known = await deps.subscriptions.get(id)
  // Counted before the new token is made. If no message may be sent, the token that was sent must stay valid.
  if (known?.status === 'pending') await takeConfirmation(deps, known)
  const record = await deps.subscriptions.update(id, (current) => {
    if (current.unsubscribed) throw notFound('subscription')
    if (current.status !== 'pending')
      throw new FantailError('wrong_state', `it is ${current.status}, not pending`)
    return newToken(deps, id)
  })
  await parkQuestion(deps, record, publicUrl)
  return record
}

/** Whether the text is the record's token and still valid. A used token stays valid without an end. */
function tokenMatches(record: SubscriptionRecord, token: string, now: number): boolean {
  if (record.token === null) return false
  if (record.tokenExpiresAt !== null && record.tokenExpiresAt <= now) return false
  const [own, given] = [Buffer.from(record.token), Buffer.from(token)]
  return own.length === given.length && timingSafeEqual(own, given)
}

/** How a subscription was confirmed, stored with it. */
export type Authentication = Pick<
  SubscriptionRecord,
  'confirmationWasAuthenticated' | 'authenticateOnUnsubscribe'
>

/** Makes a pending or unsubscribed subscription active again. undefined: the token is not its token. */
export async function confirm(
  deps: Tools,
  record: SubscriptionRecord,
  token: string,
  authentication: Authentication = {},
): Promise<SubscriptionRecord | undefined> {
  if (!tokenMatches(record, token, deps.clock())) return undefined
  if (record.move) return confirmMove(deps, record, token, authentication)
  if (record.status !== 'pending' && !record.unsubscribed) return record
  return deps.subscriptions.update(record.id, (current) => {
    // Another confirmation or a new token came first. Its result stays.
    if (!tokenMatches(current, token, deps.clock())) return {}
    const status = current.status === 'pending' ? 'active' : current.status
    return { ...authentication, status, unsubscribed: false, tokenExpiresAt: null }
  })
}

/** The new endpoint has confirmed, so it replaces the old one. */
function confirmMove(
  deps: Tools,
  record: SubscriptionRecord,
  token: string,
  authentication: Authentication,
): Promise<SubscriptionRecord> {
  return deps.subscriptions.move(record.id, (current) => {
    if (!current.move || !tokenMatches(current, token, deps.clock())) return {}
    return { ...authentication, ...current.move, move: null, tokenExpiresAt: null }
  })
}

/**
 * Hides a subscription because of its link, and asks the endpoint whether that was meant. A pending subscription, or
 * one that cannot be asked, is deleted.
 */
export async function unsubscribeByLink(
  deps: Confirming,
  record: SubscriptionRecord,
  publicUrl: string,
): Promise<void> {
  if (record.status === 'pending' || !canBeAsked(record.protocol)) return deleteSubscription(deps, record.id)
  const taken = await deps.subscriptions.update(record.id, () => ({
    unsubscribed: true,
    // The token is replaced, and the move's new endpoint must not answer this question.
    move: null,
    ...newToken(deps, record.id),
  }))
  const place = await deps.subscriptions.locate(record.id)
  if (place) await deps.lanes.purge(place.shard, record.id)
  const text = `You have chosen to deactivate subscription ${record.arn}.\nTo cancel this operation and restore the subscription, visit the SubscribeURL included in this message.`
  await parkMessage(deps, taken, { kind: 'UnsubscribeConfirmation', text, publicUrl })
}

interface Confirmation {
  kind: MessageKind
  text: string
  publicUrl: string
}

async function parkMessage(deps: Tools, record: SubscriptionRecord, about: Confirmation): Promise<void> {
  const place = await deps.subscriptions.locate(record.id)
  if (!place || record.token === null) throw notFound('subscription')
  const publishedAt = deps.clock()
  const messageId = createMessageId(publishedAt)
  const message: Message = {
    messageId,
    topicArn: record.topicArn,
    publishedAt,
    message: about.text,
    kind: about.kind,
    token: record.token,
    publicUrl: about.publicUrl,
    // A FIFO queue of another account is asked too, and accepts no message without a group.
    ...(isFifoQueue(record) && { groupId: record.id, deduplicationId: messageId }),
  }
  const delivery = deliveryId(messageId)
  const entry = { subscriptionId: record.id, delivery, message: 0, park: { as: 'fresh' as const } }
  await deps.lanes.park(place.shard, {
    messages: [{ id: delivery, body: messageBody(message) }],
    jobs: [{ jobName: '', fence: 0, fields: [], entries: [entry] }],
  })
}

function isFifoQueue({ protocol, endpoint }: SubscriptionRecord): boolean {
  return PROTOCOL_TRAITS[protocol].isQueue && isFifoName(endpoint)
}

/** For a subscription that was deleted since it was found. Rejects with any other error. */
export function gone(error: unknown): undefined {
  if (error instanceof FantailError && error.code === 'not_found') return undefined
  throw error
}
