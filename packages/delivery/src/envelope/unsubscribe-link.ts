/**
 * The link to unsubscribe. Its token proves that the link came with a delivery, because ids of subscriptions are no
 * secret. The token is an HMAC of the subscription's ARN with a key of this service, so nothing is stored for it, and
 * it is valid as long as the subscription. The key is a KeyObject, because Node prepares bytes again for each use: a
 * token took 11 µs with bytes, and takes 1.8.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'

/** A part of the HMAC's input, so that the same key can also sign other things. */
const PURPOSE = 'unsubscribe '

/** Without a key the link has no token, and unsubscribes only where none is required. */
export function unsubscribeUrl(publicUrl: string, query: string): string {
  return `${publicUrl}/?Action=Unsubscribe&SubscriptionArn=${query}`
}

/** The part of the link after `SubscriptionArn=`. */
export function unsubscribeQuery(subscriptionArn: string, key: KeyObject | undefined): string {
  return key === undefined
    ? subscriptionArn
    : `${subscriptionArn}&Token=${unsubscribeToken(subscriptionArn, key)}`
}

export function unsubscribeToken(subscriptionArn: string, key: KeyObject): string {
  return createHmac('sha256', key).update(`${PURPOSE}${subscriptionArn}`).digest('base64url')
}

export function isUnsubscribeToken(token: string, subscriptionArn: string, key: KeyObject): boolean {
  const [own, given] = [Buffer.from(unsubscribeToken(subscriptionArn, key)), Buffer.from(token)]
  return own.length === given.length && timingSafeEqual(own, given)
}
