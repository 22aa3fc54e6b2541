/** The queues on which the consumer's rules are tested: Fantail's own API, and an SQS endpoint. */
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { fantailQueue, type MessageSource, sqs } from '@fantail/consumer'
import type { RestClient } from '../harness/services/rest-client.ts'

export interface TestQueue {
  source: MessageSource
  send(body: string, groupId?: string): Promise<void>
  /** Messages that are visible, and messages in flight. */
  depth(): Promise<{ visible: number; inFlight: number }>
}

export interface QueueMaker {
  wire: string
  /** Whether the queue's server moves poisonous messages. Otherwise the consumer does. */
  hasRedrive: boolean
  /** The wait of a receive for FIFO queues. While a request waits, moto does not notice that a group is free again. */
  waitSeconds?: number
  create(name: string, options?: { visibilitySeconds?: number }): Promise<TestQueue>
}

export function nativeQueues(client: () => RestClient, url: () => string): QueueMaker {
  return {
    wire: "Fantail's API",
    hasRedrive: true,
    create: async (name, { visibilitySeconds = 30 } = {}) => {
      const path = `/v1/queues/${name}`
      await client().put(path, { visibilityTimeoutSeconds: visibilitySeconds })
      return {
        source: fantailQueue(name, { url: url() }),
        send: async (body, groupId) => {
          const deduplicationId = groupId === undefined ? undefined : `${Date.now()}-${Math.random()}`
          await client().post(`${path}/messages`, { body, groupId, deduplicationId })
        },
        depth: async () => {
          const { counts } = await client().get<{ counts: { visible: number; inFlight: number } }>(path)
          return counts
        },
      }
    },
  }
}

export function sqsQueues(client: () => SQSClient, wire: string): QueueMaker {
  return {
    wire,
    hasRedrive: false,
    create: async (name, { visibilitySeconds = 30 } = {}) => {
      const fifo = name.endsWith('.fifo') ? { FifoQueue: 'true' } : {}
      const Attributes = { VisibilityTimeout: String(visibilitySeconds), ...fifo }
      const { QueueUrl = '' } = await client().send(new CreateQueueCommand({ QueueName: name, Attributes }))
      return {
        source: sqs(QueueUrl, { client: client() }),
        send: async (MessageBody, MessageGroupId) => {
          const id = `${Date.now()}-${Math.random()}`
          const group = MessageGroupId && { MessageGroupId, MessageDeduplicationId: id }
          await client().send(new SendMessageCommand({ QueueUrl, MessageBody, ...group }))
        },
        depth: async () => {
          const { Attributes: counts = {} } = await client().send(
            new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
          )
          return {
            visible: Number(counts.ApproximateNumberOfMessages),
            inFlight: Number(counts.ApproximateNumberOfMessagesNotVisible),
          }
        },
      }
    },
  }
}
