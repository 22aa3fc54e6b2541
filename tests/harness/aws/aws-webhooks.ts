/** Webhooks as users of SNS make them: subscribed by the SDK, and confirmed with the token that they receive. */
import { ConfirmSubscriptionCommand, CreateTopicCommand, PublishCommand } from '@aws-sdk/client-sns'
import { type ReceivedRequest, type Receiver, type Reply, type Responder, waitFor } from '@fantail/test-kit'
import { notification } from '../receivers/webhooks.ts'
import type { Stack } from '../services/stack.ts'
import { type AwsClients, queueArn, type TopicAttributes, topicArn } from './aws-clients.ts'

interface DeliveryView {
  subscriptionId: string
  state: string
  attempts: number
  lastStatusCode: number | null
  lastError: string | null
  reason: string | null
}

interface AwsWebhooks {
  createTopic(name: string, attributes?: TopicAttributes): Promise<void>
  /** Subscribes this path of the receiver and confirms it. Resolves with the subscription's ARN. */
  subscribe(topic: string, path: string, attributes?: Record<string, string>): Promise<string>
  /** The message's id. */
  publish(topic: string, message: string, more?: object): Promise<string>
  /** Sets the path's answer to notifications. Confirmations always get 200. */
  respond(path: string, reply: Reply | Responder): void
  /** The notifications that a path got. */
  sent(path: string): ReceivedRequest[]
  waitForSent(path: string, count: number, timeoutMs?: number): Promise<ReceivedRequest[]>
  /** The outcomes of a message at its `count` subscriptions, once all have ended. */
  ended(messageId: string, count: number): Promise<DeliveryView[]>
}

interface AwsWebhooksOf {
  stack: () => Stack
  aws: () => AwsClients
  receiver: () => Receiver
}

export function awsWebhooks({ stack, aws, receiver }: AwsWebhooksOf): AwsWebhooks {
  const at = (path: string) => (request: ReceivedRequest) =>
    request.path === path && request.headers['x-amz-sns-message-type'] === 'Notification'
  return {
    createTopic: async (Name, Attributes) => {
      await aws().sns.send(new CreateTopicCommand({ Name, Attributes }))
    },
    async subscribe(topic, path, attributes) {
      const asked = receiver().requestsTo(path).length
      const endpoint = `${receiver().url}${path}`
      const arn = await aws().subscribe(topic, { protocol: 'http', endpoint, attributes })
      const request = (await receiver().waitForRequests(asked + 1, path))[asked]
      const Token = request && notification(request).Token
      await aws().sns.send(new ConfirmSubscriptionCommand({ TopicArn: topicArn(topic), Token }))
      return arn
    },
    async publish(topic, Message, more = {}) {
      const command = new PublishCommand({ TopicArn: topicArn(topic), Message, ...more })
      return (await aws().sns.send(command)).MessageId ?? ''
    },
    respond: (path, reply) => receiver().respond(at(path), reply),
    sent: (path) => receiver().requestsTo(at(path)),
    waitForSent: (path, count, timeoutMs) => receiver().waitForRequests(count, at(path), timeoutMs),
    ended: (messageId, count) => waitFor(() => endedDeliveries(stack(), messageId, count)),
  }
}

async function endedDeliveries({ client }: Stack, messageId: string, count: number) {
  const path = `/v1/messages/${messageId}/deliveries`
  const { status, body } = await client.call<{ deliveries: DeliveryView[] }>('GET', path)
  if (status !== 200 || body.deliveries.length < count) return undefined
  return body.deliveries.every(isTold) ? body.deliveries : undefined
}

function isTold({ state }: DeliveryView): boolean {
  return state !== 'waiting' && state !== 'inFlight'
}

/** Attributes of a subscription that set its dead-letter queue. */
export const deadLetters = (queue: string) => ({
  RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn(queue) }),
})

/** Attributes of a subscription that set its retries. Default: a second apart. */
export function retrying(numRetries: number, set: Record<string, unknown> = {}) {
  const healthyRetryPolicy = { minDelayTarget: 1, maxDelayTarget: 1, numRetries, ...set }
  return { DeliveryPolicy: JSON.stringify({ healthyRetryPolicy }) }
}

/** This many retries without delay. */
export const atOnce = (numRetries: number) => retrying(numRetries, { numNoDelayRetries: numRetries })
