/** A queue behind the SQS protocol: Amazon SQS, Fantail's own SQS endpoint, or another compatible server. */
import type {
  ChangeMessageVisibilityBatchCommandInput,
  Message,
  MessageAttributeValue,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { HandleResult, MessageAttribute, MessageSource, QueueMessage } from './messages.ts'

export interface SqsOptions {
  /**
   * Default: a client with the settings that the AWS SDK reads from the environment. The consumer does not close a
   * client that the caller gave.
   */
  client?: SQSClient
}

/** Messages or handles of one request to SQS. Past it: another request follows. */
const SQS_BATCH_MAX = 10

/**
 * Messages of an SQS queue. `@aws-sdk/client-sqs` must be installed; it is loaded at the first request. Without a
 * redrive policy on the queue, the consumer's option `poison` moves poisonous messages.
 */
export function sqs(queueUrl: string, options: SqsOptions = {}): MessageSource {
  if (!URL.canParse(queueUrl)) throw new TypeError(`the queue's URL is not valid: ${queueUrl}`)
  let loading: Promise<{ sdk: typeof import('@aws-sdk/client-sqs'); client: SQSClient }> | undefined
  const load = () => {
    loading ??= import('@aws-sdk/client-sqs').then((sdk) => ({
      sdk,
      client: options.client ?? new sdk.SQSClient({}),
    }))
    return loading
  }
  const entriesOf = (handles: string[]) =>
    handles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }))

  return {
    name: queueUrl,
    isFifo: queueUrl.endsWith('.fifo'),
    receiveMax: SQS_BATCH_MAX,
    handlesMax: SQS_BATCH_MAX,
    receive: async ({ maxMessages, waitSeconds, visibilitySeconds }, abortSignal) => {
      const { sdk, client } = await load()
      const command = new sdk.ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: maxMessages,
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibilitySeconds,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All'],
      })
      const { Messages = [] } = await client.send(command, { abortSignal })
      return Messages.map(messageOf)
    },
    delete: async (handles) => {
      const { sdk, client } = await load()
      const input = { QueueUrl: queueUrl, Entries: entriesOf(handles) }
      const { Failed = [] } = await client.send(new sdk.DeleteMessageBatchCommand(input))
      return resultsOf(handles, Failed)
    },
    hide: async (handles, seconds) => {
      const { sdk, client } = await load()
      const Entries = entriesOf(handles).map((entry) => ({ ...entry, VisibilityTimeout: seconds }))
      const input: ChangeMessageVisibilityBatchCommandInput = { QueueUrl: queueUrl, Entries }
      const { Failed = [] } = await client.send(new sdk.ChangeMessageVisibilityBatchCommand(input))
      return resultsOf(handles, Failed)
    },
    copyTo: async (queue, { body, attributes, groupId, id }) => {
      const { sdk, client } = await load()
      const command = new sdk.SendMessageCommand({
        QueueUrl: queue,
        MessageBody: body,
        MessageAttributes: Object.fromEntries(
          Object.entries(attributes).map(([name, attribute]) => [name, sdkAttribute(attribute)]),
        ),
        // The message's id deduplicates copies that a repeated receive would make.
        ...(queue.endsWith('.fifo') && { MessageGroupId: groupId ?? id, MessageDeduplicationId: id }),
      })
      await client.send(command)
    },
  }
}

function messageOf({ MessageId = '', Body = '', ReceiptHandle = '', ...rest }: Message): QueueMessage {
  const { Attributes = {}, MessageAttributes = {} } = rest
  return {
    id: MessageId,
    body: Body,
    receiptHandle: ReceiptHandle,
    receiveCount: Number(Attributes.ApproximateReceiveCount ?? 1),
    sentAt: new Date(Number(Attributes.SentTimestamp ?? Date.now())),
    groupId: Attributes.MessageGroupId,
    attributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, value]) => [name, attributeOf(value)]),
    ),
  }
}

function attributeOf({
  DataType = 'String',
  StringValue,
  BinaryValue,
}: MessageAttributeValue): MessageAttribute {
  const value = BinaryValue ? Buffer.from(BinaryValue).toString('base64') : (StringValue ?? '')
  return { type: DataType, value }
}

function sdkAttribute({ type, value }: MessageAttribute): MessageAttributeValue {
  if (type.startsWith('Binary')) return { DataType: type, BinaryValue: Buffer.from(value, 'base64') }
  return { DataType: type, StringValue: value }
}

interface FailedEntry {
  Id?: string | undefined
  Code?: string | undefined
  Message?: string | undefined
  SenderFault?: boolean | undefined
}

/** The result of each handle. Rejects if the server itself failed, so that the request is repeated. */
function resultsOf(handles: string[], failed: FailedEntry[]): HandleResult[] {
  const results: HandleResult[] = handles.map(() => undefined)
  for (const { Id, Code = '', Message, SenderFault } of failed) {
    if (!SenderFault) throw new Error(`SQS failed for a message: ${Code} ${Message ?? ''}`)
    results[Number(Id)] = isLimit(Code, Message) ? 'limit' : 'lost'
  }
  return results
}

/**
 * If the hidden time would exceed 12 hours, SQS answers `InvalidParameterValue` with a text about "Total
 * VisibilityTimeout".
 */
function isLimit(code: string, text = ''): boolean {
  return code.includes('InvalidParameterValue') && /total visibilitytimeout/i.test(text)
}
