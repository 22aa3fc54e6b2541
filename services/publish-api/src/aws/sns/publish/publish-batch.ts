/**
 * PublishBatch (checklist 126 to 129). An error of the batch, of attributes, of texts for protocols or of FIFO ids
 * refuses the whole batch. An error of one message's text fails only that entry. The other entries are stored in one
 * write, in their order.
 */
import { type AwsCall, AwsError, type AwsInput, type Operation } from '@fantail/aws-wire'
import { MESSAGE_BYTES_MAX } from '@fantail/contracts'
import type { KnownTopic } from '../../../caches/topic-cache.ts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { checkTypes } from '../../../messages/check-types.ts'
import { logPublished } from '../../../messages/log-published.ts'
import { makeMessages } from '../../../messages/make-messages.ts'
import type { MessageStore, Receipt } from '../../../messages/message-store.ts'
import { outcomeOf } from '../../wire/thrown-errors.ts'
import { checkTopicArn, invalidParameter } from '../wire/sns-parameters.ts'
import {
  checkOrdering,
  checkStructure,
  knownTopic,
  MESSAGE_SHAPE,
  misfit,
  ofTopic,
  type ReadMessage,
  readMessage,
} from './read-message.ts'
import { type ReadAttributes, readAttributes } from './sns-message-attributes.ts'

/** @limit Entries of SNS's PublishBatch. Past it: `TooManyEntriesInBatchRequest`. */
const PUBLISH_ENTRIES_MAX = 10
/** @limit Id of such an entry. Past it: `InvalidBatchEntryId`. */
const ENTRY_ID_CHARS_MAX = 80
const ID = /^[A-Za-z0-9_-]+$/

export function publishBatchOperation(deps: ApiDeps, store: MessageStore): Operation {
  return {
    name: 'PublishBatch',
    input: {
      TopicArn: 'string',
      PublishBatchRequestEntries: { list: { struct: { Id: 'string', ...MESSAGE_SHAPE } } },
    },
    output: {
      Successful: { list: { struct: { Id: 'string', MessageId: 'string', SequenceNumber: 'string' } } },
      Failed: {
        list: { struct: { Id: 'string', Code: 'string', Message: 'string', SenderFault: 'boolean' } },
      },
    },
    run: (input, call) => publishBatch({ deps, store }, input, call),
  }
}

interface Tools {
  deps: ApiDeps
  store: MessageStore
}

interface Entry {
  id: string
  read: ReadMessage | AwsError
}

async function publishBatch({ deps, store }: Tools, input: AwsInput, call: AwsCall) {
  const startedAt = performance.now()
  const topicArn = checkTopicArn(input.TopicArn, call)
  const given = (input.PublishBatchRequestEntries ?? []) as AwsInput[]
  checkIds(given)
  const attributes = given.map((entry, i) =>
    readAttributes(entry.MessageAttributes, `publishBatchRequestEntries.${i + 1}.member.`),
  )
  const topic = await knownTopic(deps, topicArn)
  checkSum(topic, given, attributes)
  checkStructures(given)
  const entries = given.map((entry, i) => readEntry(topic, entry, attributes[i] as ReadAttributes))
  if (topic.record.eventTypeCheck) await refuseMisfits(deps, topic, entries)
  const sound = entries.flatMap(({ id, read }) => (read instanceof AwsError ? [] : [{ id, read }]))
  const receipts = await storeAll({ deps, store, topic, call }, sound)
  if (receipts.length > 0) {
    const bytes = sumOf(sound)
    logPublished(deps, {
      requestId: call.requestId,
      topicArn,
      receipts,
      bytes,
      replayed: false,
      startedAt,
    })
  }
  return { Successful: successes(sound, receipts), Failed: failures(entries) }
}

interface Storing extends Tools {
  topic: KnownTopic
  call: AwsCall
}

type Sound = { id: string; read: ReadMessage }

async function storeAll({ deps, store, topic, call }: Storing, sound: Sound[]): Promise<Receipt[]> {
  if (sound.length === 0) return []
  const { origin: publicUrl, traceHeader } = call
  const messages = makeMessages(
    deps,
    sound.map(({ read }) => read.message),
    { topic, publicUrl, traceHeader },
  )
  return ofTopic(() => store.store(topic, messages, sumOf(sound)))
}

/** A message that does not fit the catalogue of the topic fails only its entry. */
async function refuseMisfits(deps: ApiDeps, topic: KnownTopic, entries: Entry[]): Promise<void> {
  const given = entries.flatMap((entry) =>
    entry.read instanceof AwsError ? [] : [{ entry, read: entry.read }],
  )
  const { refused } = await checkTypes(
    deps,
    topic,
    given.map(({ read }) => read.message),
  )
  for (const refusal of refused) {
    const { entry } = given[refusal.index] ?? {}
    if (entry) entry.read = misfit(refusal)
  }
}

function sumOf(sound: Sound[]): number {
  return sound.reduce((sum, { read }) => sum + read.bytes, 0)
}

function successes(sound: Sound[], receipts: Receipt[]) {
  return sound.map(({ id }, i) => ({
    Id: id,
    MessageId: receipts[i]?.messageId,
    SequenceNumber: receipts[i]?.sequenceNumber,
  }))
}

function failures(entries: Entry[]) {
  return entries.flatMap(({ id, read }) =>
    read instanceof AwsError ? [{ Id: id, Code: read.code, Message: read.message, SenderFault: true }] : [],
  )
}

function checkIds(entries: AwsInput[]): void {
  if (entries.length === 0) {
    throw new AwsError('EmptyBatchRequest', "The batch request doesn't contain any entries.")
  }
  if (entries.length > PUBLISH_ENTRIES_MAX) {
    const message = 'The batch request contains more entries than permissible.'
    throw new AwsError('TooManyEntriesInBatchRequest', message)
  }
  const ids = entries.map(({ Id }) => String(Id ?? ''))
  for (const id of ids) checkId(id)
  if (new Set(ids).size < ids.length) {
    const message = 'Two or more batch entries in the request have the same Id.'
    throw new AwsError('BatchEntryIdsNotDistinct', message)
  }
}

function checkId(id: string): void {
  const subject = 'The Id of a batch entry in the batch request'
  if (id.length > ENTRY_ID_CHARS_MAX)
    throw new AwsError('InvalidBatchEntryId', `${subject} is too long: ${id}`)
  if (!ID.test(id)) {
    throw new AwsError('InvalidBatchEntryId', `${subject} contains an impermissible character: ${id}`)
  }
}

/** Checks the sum of all messages, also of those that fail on their own. */
function checkSum({ messageBytesMax }: KnownTopic, given: AwsInput[], attributes: ReadAttributes[]): void {
  const texts = given.reduce((sum, { Message }) => sum + Buffer.byteLength(String(Message ?? '')), 0)
  const bytes = attributes.reduce((sum, read) => sum + read.bytes, texts)
  if (bytes <= Math.max(messageBytesMax, MESSAGE_BYTES_MAX)) return
  const message = 'The length of all the messages put together is more than the limit.'
  throw new AwsError('BatchRequestTooLong', message)
}

/**
 * If a text for protocols cannot be read, or lacks its default, the batch is refused before groups are checked
 * (recorded).
 */
function checkStructures(given: AwsInput[]): void {
  for (const entry of given) {
    if (entry.MessageStructure === 'json' && String(entry.Message ?? '') !== '') checkStructure(entry)
  }
}

/** Reads an entry. Errors for the whole batch are thrown. The entry's own error is returned in it. */
function readEntry(topic: KnownTopic, given: AwsInput, attributes: ReadAttributes): Entry {
  checkOrdering(topic, given)
  const id = String(given.Id)
  const read = outcomeOf(() => {
    const message = readMessage(given, attributes)
    checkStructure(given)
    return message
  })
  if (read instanceof AwsError) return { id, read }
  if (read.bytes > topic.messageBytesMax) return { id, read: invalidParameter('Message too long') }
  return { id, read }
}
