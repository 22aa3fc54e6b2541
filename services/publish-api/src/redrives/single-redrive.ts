/**
 * Sends one message of a queue again, with changes if the caller wants. Everything is checked before anything changes.
 * A redrive task then moves the message, so a crash leaves it in exactly one place.
 */
import { hash } from 'node:crypto'
import {
  FantailError,
  isSealing,
  type MessageAttribute,
  parseArn,
  QUEUE_MESSAGE_BYTES_MAX,
  type QueueMessage,
  type RedriveEdit,
  resolveQueue,
  type SubscriptionRecord,
  toAttribute,
} from '@fantail/contracts'
import type { EditedRedrive, EditInput } from '@fantail/contracts/schemas/queues/redrive-schemas'
import { textForProtocol } from '@fantail/delivery'
import { isFiltered, scopeOf } from '@fantail/policy'
import { placeOfSubscription, redrivenItemId, SealKeyError, sealedEdit } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, queueOf } from '../http/endpoint.ts'
import { notFound } from '../http/error-answers.ts'
import type { FilterTrials } from '../subscriptions/filters.ts'
import { checkBytes, checkSendable, editOf, textOf } from './edited-letter.ts'

type Tools = Pick<
  ApiDeps,
  | 'clock'
  | 'log'
  | 'outcomes'
  | 'queues'
  | 'redrives'
  | 'seals'
  | 'settings'
  | 'storageGuard'
  | 'subscriptions'
  | 'topicCache'
>

type Input = z.output<typeof EditInput>

/** Where the message goes. */
type Target = { queueArn: string } | { subscription: SubscriptionRecord }

export async function redriveSingle(
  deps: Tools,
  trials: FilterTrials,
  call: Call<unknown, Input>,
): Promise<Answer> {
  const source = queueOf(deps, call)
  const item = await deps.queues.message(source, call.params.messageId ?? '')
  if (!item) throw notFound('message in this queue')
  const { destination: given } = call.body
  const destination = given ? resolveQueue(given, deps.settings.arn, 'destination') : null
  const target = await targetOf(deps, item, destination)
  const edit = editGiven(call.body, item, deps.clock())
  if (edit) await checkEdit(deps, trials, { item, edit, target })
  await deps.storageGuard.admit()
  const stored = edit && (await storedEdit(deps, { item, edit, target, source }))
  const task = await deps.redrives.createSingle({
    source,
    destination,
    itemId: item.messageId,
    edit: stored,
  })
  if (edit?.message && 'subscription' in target) await tryNoteParked(deps, edit.message, target.subscription)
  const body = answerOf(task.id, item, { edit, target })
  deps.log.info({ requestId: call.requestId, redriveId: task.id, source, destination }, 'redrive.created')
  return { status: 202, body }
}

/** Throws `validation_failed` if the message has no place to go to. */
async function targetOf(deps: Tools, item: QueueMessage, destination: string | null): Promise<Target> {
  const { deadLetter, deadLetterSourceArn } = item
  const queueArn = destination ?? deadLetterSourceArn
  if (queueArn !== undefined) {
    if (await deps.queues.get(queueArn)) return { queueArn }
    throw FantailError.invalid('destination', destination ? 'names a queue that does not exist' : GONE)
  }
  if (!deadLetter) throw FantailError.invalid('destination', NO_ORIGIN)
  const id = parseArn(deadLetter.subscriptionArn)?.subscriptionId
  const subscription = id === undefined ? null : await deps.subscriptions.get(id)
  if (subscription && !subscription.unsubscribed) return { subscription }
  throw FantailError.invalid('destination', GONE)
}

const GONE = 'must be named: the place that the message came from is gone'
const NO_ORIGIN = 'must be named: the message came from no subscription and no queue'

function editGiven({ message, attributes }: Input, item: QueueMessage, now: number): RedriveEdit | undefined {
  if (message === undefined && attributes === undefined) return undefined
  if (item.sealed === 'locked') throw new SealKeyError('an edit needs its content')
  return editOf(item, { message, ...(attributes !== undefined && { attributes: named(attributes) }) }, now)
}

/** The schema has checked every attribute. */
function named(given: unknown): Record<string, MessageAttribute> {
  const entries = Object.entries(given as object).map(([name, input]) => [name, toAttribute(input)] as const)
  return Object.fromEntries(
    entries.filter((entry): entry is [string, MessageAttribute] => entry[1] !== undefined),
  )
}

interface Edited {
  item: QueueMessage
  edit: RedriveEdit
  target: Target
}

/** Throws if the target would not take the edited message. */
async function checkEdit(deps: Tools, trials: FilterTrials, { edit, target }: Edited): Promise<void> {
  if ('queueArn' in target) return checkForQueue(deps, edit, target.queueArn)
  const { subscription } = target
  const { message } = edit
  if (!message) return
  const topic = await deps.topicCache.find(subscription.topicArn)
  if (!topic) throw FantailError.invalid('destination', GONE)
  checkBytes(message.message, message.attributes, topic.messageBytesMax)
  const isQueue = parseArn(subscription.endpoint)?.service === 'sqs'
  if (isQueue && subscription.rawMessageDelivery) checkSendable(message.message, message.attributes)
  await checkFilter(trials, subscription, message)
}

/** Sealed if the message is, or if its queue or the place where it goes asks for it. */
async function storedEdit(
  deps: Tools,
  { item, edit, target, source }: Edited & { source: string },
): Promise<RedriveEdit> {
  const { queues, seals, topicCache } = deps
  const asked = await Promise.all([
    queues.get(source),
    'queueArn' in target
      ? queues.get(target.queueArn)
      : topicCache.find(target.subscription.topicArn).then((topic) => topic?.record),
  ])
  const isSealed = item.sealed || seals.all || asked.some((record) => record && isSealing(record))
  return isSealed ? sealedEdit(edit, { message: item }, { arn: source, seals }) : edit
}

async function checkForQueue(
  { queues }: Tools,
  { body, attributes }: RedriveEdit,
  queueArn: string,
): Promise<void> {
  const queue = await queues.get(queueArn)
  checkBytes(body, attributes, queue?.maximumMessageBytes ?? QUEUE_MESSAGE_BYTES_MAX)
  checkSendable(body, attributes)
}

async function checkFilter(
  trials: FilterTrials,
  subscription: SubscriptionRecord,
  message: NonNullable<RedriveEdit['message']>,
): Promise<void> {
  if (!isFiltered(subscription)) return
  const text = textForProtocol(message, subscription.protocol)
  const bytes = Buffer.byteLength(text)
  const { attributes } = message
  const tried = await trials.explain({ filtering: subscription, message: text, attributes, bytes })
  if (tried?.matched) return
  const path = scopeOf(subscription) === 'MessageBody' ? 'message' : 'attributes'
  throw FantailError.invalid(
    path,
    'must pass the filter policy and event types of the subscription that the message goes to',
  )
}

/**
 * The task has begun, so a failure of the outcome log does not change the answer. The delivery's end is still logged.
 */
async function tryNoteParked(
  deps: Tools,
  message: NonNullable<RedriveEdit['message']>,
  subscription: SubscriptionRecord,
): Promise<void> {
  const { messageId } = message
  await noteParked(deps, message, subscription).catch((error: unknown) =>
    deps.log.warn({ err: error, messageId }, 'redrive.note_failed'),
  )
}

/** The new message was not published, so its delivery gets its entry in the outcome log here. */
async function noteParked(
  { outcomes }: Tools,
  { messageId, topicArn, message }: NonNullable<RedriveEdit['message']>,
  { id, bit, departures }: SubscriptionRecord,
): Promise<void> {
  const place = placeOfSubscription(id)
  const slice = place ? { sliceId: place.sliceId, shard: place.shard, departures } : null
  const parked = Buffer.alloc((bit >> 3) + 1)
  parked[bit >> 3] = 1 << (bit & 7)
  const none = Buffer.alloc(0)
  const sizeBytes = Buffer.byteLength(message)
  const entry = {
    messageId,
    topicArn,
    sizeBytes,
    slice,
    delivered: none,
    parked,
    filtered: none,
    otherCodes: [],
    failures: [],
  }
  await outcomes.append({ dispatch: [entry], lanes: [] })
}

function answerOf(
  id: string,
  item: QueueMessage,
  { edit, target }: Pick<Edited, 'target'> & { edit: RedriveEdit | undefined },
): z.input<typeof EditedRedrive> {
  const before = item.sealed === 'locked' ? null : textOf(item)
  const after = edit ? (edit.message?.message ?? edit.body) : before
  const published = edit?.message ?? item.deadLetter
  const atQueue = redrivenItemId(id, item.messageId)
  return {
    id,
    messageId: 'queueArn' in target || !published ? atQueue : published.messageId,
    editedFrom: edit ? (item.deadLetter?.messageId ?? item.messageId) : null,
    originalSha256: before === null ? null : hash('sha256', before, 'hex'),
    editedSha256: after === null ? null : hash('sha256', after, 'hex'),
  }
}
