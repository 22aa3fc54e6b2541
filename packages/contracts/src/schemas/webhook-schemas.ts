/**
 * Bodies and headers of requests to webhooks and push consumers. These schemas only document them. The package
 * `delivery` writes them.
 */
import { z } from 'zod'
import { named, Timestamp } from './shared-schemas.ts'

const TOPIC_ARN = 'arn:aws:sns:us-east-1:000000000000:orders'
const MESSAGE_ID = '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21'
const SUBSCRIPTION_ARN = `${TOPIC_ARN}:0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012`
const TIMESTAMP = '2026-11-21T09:30:00.000Z'

const common = {
  MessageId: z.string().describe('Id of the message, the same at every attempt: drop what you have seen.'),
  TopicArn: z.string().describe('ARN of the topic the message was published to.'),
  Timestamp: Timestamp.describe('When it was published: ISO 8601 in UTC, with milliseconds.'),
}

const signature = {
  SignatureVersion: z
    .string()
    .optional()
    .describe('`1` (SHA-1) or `2` (SHA-256). Signed topics only, as the two members below.'),
  Signature: z.string().optional().describe('Signature of the members as Amazon SNS makes it, in base64.'),
  SigningCertURL: z
    .string()
    .optional()
    .describe('The address of the certificate that verifies the signature.'),
}

export const Notification = named(
  'Notification',
  z
    .object({
      Type: z.literal('Notification').describe('The kind of request: a published message.'),
      ...common,
      SequenceNumber: z
        .string()
        .optional()
        .describe('FIFO topics only: 20 digits, rising with every message.'),
      Subject: z.string().optional().describe('The subject it was published with, if any.'),
      Message: z.string().describe('The published text; an object or array as its JSON text.'),
      ...signature,
      UnsubscribeURL: z.string().describe('A GET of this URL ends the subscription.'),
      MessageAttributes: z
        .record(
          z.string(),
          z.object({
            Type: z
              .string()
              .describe('`String`, `Number`, `Binary` or `String.Array`, with or without a `.label`.'),
            Value: z.string().describe('The value as text; base64 where the type is Binary.'),
          }),
        )
        .optional()
        .describe('Attributes it was published with, by name; absent where it has none.'),
    })
    .meta({
      description: 'SNS’s envelope around a published message. Raw deliveries send the bare message instead.',
      examples: [
        {
          Type: 'Notification',
          MessageId: MESSAGE_ID,
          TopicArn: TOPIC_ARN,
          Subject: 'Greeting',
          Message: 'hello',
          Timestamp: TIMESTAMP,
          UnsubscribeURL: `http://127.0.0.1:4100/?Action=Unsubscribe&SubscriptionArn=${SUBSCRIPTION_ARN}&Token=Jm2rQ0zVbN1wD4xqE6tYk8uAo3iHs5cLpGfT7eRdXhU`,
          MessageAttributes: { color: { Type: 'String', Value: 'red' } },
        },
      ],
    }),
)

export const Confirmation = named(
  'Confirmation',
  z
    .object({
      Type: z
        .enum(['SubscriptionConfirmation', 'UnsubscribeConfirmation'])
        .describe('The question: whether to begin a subscription, or to restore one that a link has ended.'),
      ...common,
      Token: z
        .string()
        .describe('Proves the receipt: give it to `confirmSubscription` or follow SubscribeURL.'),
      Message: z.string().describe('One sentence for people that says what SubscribeURL does.'),
      SubscribeURL: z
        .string()
        .describe('A GET of this URL confirms, or restores, the subscription. Good for 48 hours.'),
      ...signature,
    })
    .meta({
      description: 'Asks an endpoint whether it wants to be subscribed, or whether it meant to unsubscribe.',
      examples: [
        {
          Type: 'SubscriptionConfirmation',
          MessageId: MESSAGE_ID,
          Token: '2336412f37fb687f',
          TopicArn: TOPIC_ARN,
          Message: `You have chosen to subscribe to the topic ${TOPIC_ARN}.\nTo confirm the subscription, visit the SubscribeURL included in this message.`,
          SubscribeURL: `http://127.0.0.1:4100/?Action=ConfirmSubscription&TopicArn=${TOPIC_ARN}&Token=2336412f37fb687f`,
          Timestamp: TIMESTAMP,
        },
      ],
    }),
)

/** Headers of requests to webhooks by name, each with its meaning. */
export const WEBHOOK_HEADERS = {
  'x-amz-sns-message-type': z
    .enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation'])
    .describe('The kind of request, as `Type` in the body says it.'),
  'x-amz-sns-message-id': z.string().describe('Id of the message, the same at every attempt.'),
  'x-amz-sns-topic-arn': z.string().describe('ARN of the topic the message was published to.'),
  'x-amz-sns-subscription-arn': z
    .string()
    .optional()
    .describe('ARN of the subscription; absent from a SubscriptionConfirmation.'),
  'x-amz-sns-rawdelivery': z
    .literal('true')
    .optional()
    .describe('Only where raw delivery is on: the body is the bare message.'),
  'x-fantail-event-type': z
    .string()
    .optional()
    .describe(
      'Only where raw delivery is on: the event type of the message, if it has one. Subscriptions with the origin `aws` ' +
        'do not get it.',
    ),
  'x-fantail-edited-from': z
    .string()
    .optional()
    .describe('Only of a dead letter that was edited: id of the message that this one replaces.'),
  'webhook-id': z
    .string()
    .optional()
    .describe('Standard Webhooks: id of the message, the same at every attempt. Only with webhook keys.'),
  'webhook-timestamp': z
    .string()
    .optional()
    .describe('Standard Webhooks: time of this attempt in whole seconds since 1970. Only with webhook keys.'),
  'webhook-signature': z
    .string()
    .optional()
    .describe(
      'Standard Webhooks: signatures of `{id}.{timestamp}.{body}`, separated by spaces. `v1,` is HMAC-SHA256, `v1a,` ' +
        'ed25519. Only with webhook keys.',
    ),
  'svix-id': z
    .string()
    .optional()
    .describe('The same as `webhook-id`. Only if the subscription has `svixHeaders`.'),
  'svix-timestamp': z
    .string()
    .optional()
    .describe('The same as `webhook-timestamp`. Only with `svixHeaders`.'),
  'svix-signature': z
    .string()
    .optional()
    .describe('The same as `webhook-signature`. Only with `svixHeaders`.'),
  traceparent: z
    .string()
    .optional()
    .describe('W3C trace context of the publish or the attempt, if there is one.'),
}
