/** The text that a signature covers (checklist 67 to 69). */
import { confirmationText, type Envelope, publishedIso, subscribeUrl, textFor } from './envelope.ts'
import type { Target } from './target.ts'

/**
 * The signed members in byte order of their names: name, LF, value, LF. An UnsubscribeConfirmation names its
 * subscription. All other kinds have the same text for every subscription of the protocol.
 */
export function stringToSign(envelope: Envelope, target: Target): string {
  const { message, kind } = envelope
  const { messageId, subject, topicArn, token = '' } = message
  const timestamp = publishedIso(message)
  if (kind === 'Notification') {
    const { text } = textFor(envelope, target.protocol)
    const subjectLines = subject === undefined ? '' : `Subject\n${subject}\n`
    return `Message\n${text}\nMessageId\n${messageId}\n${subjectLines}Timestamp\n${timestamp}\nTopicArn\n${topicArn}\nType\n${kind}\n`
  }
  const text = confirmationText(envelope, target.subscriptionArn)
  return `Message\n${text}\nMessageId\n${messageId}\nSubscribeURL\n${subscribeUrl(envelope)}\nTimestamp\n${timestamp}\nToken\n${token}\nTopicArn\n${topicArn}\nType\n${kind}\n`
}
