/**
 * The links in mails (checklist 319 to 321, 330 to 333), and all other links that a browser opens. Programs that check
 * mails open every link. So a GET only shows a page with a button, and a POST makes the change. The POST comes from
 * that button, or from a mail program by one click (RFC 8058), which sends neither cookies nor a login.
 */
import type { SubscriptionRecord } from '@fantail/contracts'
import { isUnsubscribeToken, unsubscribeLink } from '@fantail/delivery'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type AnswerDoc, type Call, type Endpoint, endpoint } from '../../http/endpoint.ts'
import { publicUrlFor } from '../../http/origin.ts'
import { confirm, gone, unsubscribeByLink } from '../../subscriptions/confirmations.ts'
import {
  askToConfirmPage,
  askToUnsubscribePage,
  confirmedPage,
  invalidLinkPage,
  refusedPage,
  removedPage,
} from './mail-pages.ts'

const TAG = 'Mail'

const page = (description: string): AnswerDoc => ({ description, contentType: 'text/html' })
const INVALID = page('A page that says that the link is not valid')

const ConfirmQuery = z.looseObject({
  TopicArn: z.string().optional().describe('Which topic the mail asks about. The token alone decides.'),
  Token: z.string().optional().describe('Token of the subscription; ConfirmSubscription takes it, too.'),
  Endpoint: z.string().optional().describe('The address that the mail went to.'),
})
const UnsubscribeQuery = z.looseObject({
  SubscriptionArn: z.string().optional().describe('Which subscription the link ends.'),
  Token: z.string().optional().describe('Proof that the link was made by this service.'),
})
const OneClick = z.record(z.string(), z.string()).meta({
  description:
    'The form that a mail program sends for a one-click unsubscribe (RFC 8058). Fantail does not read it.',
  examples: [{ 'List-Unsubscribe': 'One-Click' }],
})
const FORM = 'application/x-www-form-urlencoded'

export function mailPageRoutes(deps: ApiDeps): Endpoint[] {
  return [...confirmRoutes(deps), ...unsubscribeRoutes(deps)]
}

function confirmRoutes(deps: ApiDeps): Endpoint[] {
  const route = { path: '/confirmation.html', tag: TAG, query: ConfirmQuery, queryIs: 'own' } as const
  return [
    endpoint({
      ...route,
      id: 'showConfirmation',
      method: 'GET',
      summary: 'The page of a confirmation mail’s link',
      description:
        'Shows a button that confirms. With `FANTAIL_EMAIL_CONFIRM_ON_GET` the link itself confirms, as on AWS.',
      answers: { 200: page('A page with a button, or that the subscription is confirmed'), 400: INVALID },
      handle: async (call) => {
        const record = await awaiting(deps, call)
        if (!record) return invalidLinkPage()
        const isMail = PROTOCOL_TRAITS[record.protocol].confirmedBy === 'person'
        if (isMail && deps.settings.emailConfirmOnGet) return confirmByLink(deps, call)
        return askToConfirmPage(record.topicArn, record.move?.endpoint ?? record.endpoint)
      },
    }),
    endpoint({
      ...route,
      id: 'confirmByLink',
      method: 'POST',
      summary: 'Confirm a subscription by the page’s button',
      description:
        'Its address gets the messages of the topic from now on. A second time has the same result.',
      bodyIs: 'own',
      otherBodies: { [FORM]: OneClick },
      answers: { 200: page('A page that says that the subscription is confirmed'), 400: INVALID },
      handle: (call) => confirmByLink(deps, call),
    }),
  ]
}

async function confirmByLink(deps: ApiDeps, call: Call): Promise<Answer> {
  const record = await awaiting(deps, call)
  const confirmed = record && (await confirm(deps, record, wordOf(call, 'Token')).catch(gone))
  if (!confirmed) return invalidLinkPage()
  const { arn, topicArn } = confirmed
  deps.topicCache.forget(topicArn)
  deps.log.info({ requestId: call.requestId, subscriptionArn: arn }, 'subscription.confirmed')
  const key = await deps.linkKey.get()
  return confirmedPage(arn, unsubscribeLink(publicUrlFor(deps.settings, call), arn, key))
}

/** The subscription for the token in the link, if the token is still valid. */
async function awaiting(deps: ApiDeps, call: Call): Promise<SubscriptionRecord | undefined> {
  const record = await deps.subscriptions.findByToken(wordOf(call, 'Token'))
  const expiresAt = record?.tokenExpiresAt ?? Number.POSITIVE_INFINITY
  return record && expiresAt > deps.clock() ? record : undefined
}

function unsubscribeRoutes(deps: ApiDeps): Endpoint[] {
  const route = { path: '/unsubscribe.html', tag: TAG, query: UnsubscribeQuery, queryIs: 'own' } as const
  return [
    endpoint({
      ...route,
      id: 'showUnsubscribe',
      method: 'GET',
      summary: 'The page of a mail’s unsubscribe link',
      description: 'Shows a button that unsubscribes.',
      answers: { 200: page('A page with a button, or that the subscription is gone'), 400: INVALID },
      handle: async (call) => {
        const named = await namedByLink(deps, call)
        if (!named) return invalidLinkPage()
        return named.record ? askToUnsubscribePage(named.record.topicArn) : removedPage(named.arn)
      },
    }),
    endpoint({
      ...route,
      id: 'unsubscribeByLink',
      method: 'POST',
      summary: 'Unsubscribe by the page’s button, or by one click of a mail program',
      description:
        'Removes the subscription and sends a mail whose link restores it within 48 hours. The answer is the same for a subscription that is gone.',
      bodyIs: 'own',
      otherBodies: { [FORM]: OneClick },
      answers: {
        200: page('A page that says that the subscription is removed'),
        400: INVALID,
        403: page('A page that says that only the owner may remove it'),
      },
      handle: (call) => removeByLink(deps, call),
    }),
  ]
}

async function removeByLink(deps: ApiDeps, call: Call): Promise<Answer> {
  const named = await namedByLink(deps, call)
  if (!named) return invalidLinkPage()
  const { arn, record } = named
  if (!record) return removedPage(arn)
  if (record.authenticateOnUnsubscribe) return refusedPage(arn)
  await unsubscribeByLink(deps, record, publicUrlFor(deps.settings, call)).catch(gone)
  deps.topicCache.forget(record.topicArn)
  deps.log.info({ requestId: call.requestId, subscriptionArn: arn }, 'subscription.unsubscribed')
  return removedPage(arn)
}

interface Named {
  arn: string
  /** Undefined: it is gone. */
  record: SubscriptionRecord | undefined
}

/** Undefined if this service has not made the link. */
async function namedByLink(deps: ApiDeps, call: Call): Promise<Named | undefined> {
  const arn = wordOf(call, 'SubscriptionArn')
  if (!isUnsubscribeToken(wordOf(call, 'Token'), arn, await deps.linkKey.get())) return undefined
  const record = await deps.subscriptions.get(arn.slice(arn.lastIndexOf(':') + 1))
  const isThere = record?.arn === arn && !record.unsubscribed
  return { arn, record: isThere ? record : undefined }
}

/** A parameter of the link, or ''. */
function wordOf({ request }: Call, name: string): string {
  return new URL(request.url, 'http://localhost').searchParams.get(name) ?? ''
}
