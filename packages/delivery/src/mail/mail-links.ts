/**
 * The links in mails. The link to confirm contains the subscription's token, which ConfirmSubscription also accepts.
 * The link to unsubscribe contains a token that is hard to forge, as RFC 8058 §3.1 requires. The links contain no
 * address, because URLs appear in logs.
 */
import { unsubscribeToken } from '../envelope/unsubscribe-link.ts'

const CONFIRM_PATH = '/confirmation.html'
const UNSUBSCRIBE_PATH = '/unsubscribe.html'

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
