/** The request to a push consumer: a batch of a queue's messages, in the form that Lambda functions get. */
import { type MessageAttribute, parseArn, type QueueMessage } from '@fantail/contracts'
import { md5OfAttributes, md5OfBody, systemAttributes } from './queue-message.ts'

export const QUEUE_EVENT_HEADERS = ['Content-Type', 'application/json', 'User-Agent', 'Fantail']

export function renderQueueEvent(queueArn: string, messages: readonly QueueMessage[]): string {
  const { account = '', region = '' } = parseArn(queueArn) ?? {}
  const Records = messages.map((message) => {
    const digest = md5OfAttributes(message.attributes)
    return {
      messageId: message.messageId,
      receiptHandle: message.receiptHandle,
      body: message.body,
      attributes: systemAttributes(message, account),
      messageAttributes: eventAttributes(message.attributes),
      ...(digest !== undefined && { md5OfMessageAttributes: digest }),
      md5OfBody: md5OfBody(message.body),
      eventSource: 'aws:sqs',
      eventSourceARN: queueArn,
      awsRegion: region,
    }
  })
  return JSON.stringify({ Records })
}

function eventAttributes(attributes: Record<string, MessageAttribute>): object {
  const entries = Object.entries(attributes).map(([name, { type, value }]) => {
    const content = type.startsWith('Binary') ? { binaryValue: value } : { stringValue: value }
    return [name, { ...content, stringListValues: [], binaryListValues: [], dataType: type }] as const
  })
  return Object.fromEntries(entries)
}
