/**
 * The links in mails. The link to confirm contains the subscription's token, which ConfirmSubscription also accepts.
 * The link to unsubscribe contains a token that is hard to forge, as RFC 8058 §3.1 requires: an HMAC of the
 * subscription's ARN with a key of this service. The links contain no address, because URLs appear in logs.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

const CONFIRM_PATH = '/confirmation.html'
const UNSUBSCRIBE_PATH = '/unsubscribe.html'

/** A part of the HMAC's input, so that the same key can also sign other things. */
const PURPOSE = 'unsubscribe '

interface Confirming {
  topicArn: string
  token: string
  address: string
}

/** `publicUrl`: without a slash at its end. */
export function confirmLink(publicUrl: string, { topicArn, token, address }: Confirming): string {
  const query = new URLSearchParams({ TopicArn: topicArn, Token: token, Endpoint: address })
  return `${publicUrl}${CONFIRM_PATH}?${query}`
}

export function unsubscribeLink(publicUrl: string, subscriptionArn: string, key: Buffer): string {
  const query = new URLSearchParams({
    SubscriptionArn: subscriptionArn,
    Token: unsubscribeToken(subscriptionArn, key),
  })
  return `${publicUrl}${UNSUBSCRIBE_PATH}?${query}`
}

export function isUnsubscribeToken(token: string, subscriptionArn: string, key: Buffer): boolean {
  const [own, given] = [Buffer.from(unsubscribeToken(subscriptionArn, key)), Buffer.from(token)]
  return own.length === given.length && timingSafeEqual(own, given)
}

function unsubscribeToken(subscriptionArn: string, key: Buffer): string {
  return createHmac('sha256', key).update(`${PURPOSE}${subscriptionArn}`).digest('base64url')
}
