/** Opens what a receive has taken. Messages that it cannot return now are withheld, to be given back. */
import { isFifoName, type QueueMessage } from '@fantail/contracts'
import { type BodySeals, SealKeyError } from '../../records/sealed-messages.ts'
import { NUMBER } from '../../scripts/lua-numbers.ts'
import {
  formatHandle,
  type ItemReply,
  readItem,
  secretDigest,
  tryReadItem,
  type UnreadableItem,
} from './queue-items.ts'

interface Taking {
  arn: string
  /** The queue's. */
  uid: string
  /** Secrets that were made for this receive, one for each wanted message. */
  secrets: readonly Buffer[]
  seals: BodySeals | undefined
}

interface Opened {
  messages: QueueMessage[]
  unreadable: UnreadableItem[]
  /** Locked messages. In a FIFO queue also those behind one in its group, which keeps its order. */
  withheld: { id: string; digest: Buffer }[]
  /** Why there are withheld messages. */
  locked: SealKeyError | undefined
}

export function openTaken(taken: readonly ItemReply[], taking: Taking): Opened {
  const opened: Opened = { messages: [], unreadable: [], withheld: [], locked: undefined }
  const stopped = new Set<string>()
  for (const [i, reply] of taken.entries()) {
    const secret = secretOf(reply, taking.secrets[i])
    const group = isFifoName(taking.arn) ? String(reply[GROUP_AT]) : undefined
    const isStopped = group !== undefined && stopped.has(group)
    const item = isStopped ? undefined : tryOpen(reply, taking.seals)
    if (item === undefined || item instanceof SealKeyError) {
      opened.locked ??= item
      if (group !== undefined) stopped.add(group)
      opened.withheld.push({ id: String(reply[0]), digest: secretDigest(secret) })
    } else if ('problem' in item) opened.unreadable.push(item)
    else {
      const { message } = item
      const receiptHandle = formatHandle(taking.uid, message.messageId, secret)
      opened.messages.push({ ...message, receiptHandle })
    }
  }
  return opened
}

const GROUP_AT = 6

/** The secret that the script returned. If it returned none, it is the one that was made for this receive. */
function secretOf(reply: ItemReply, given: Buffer | undefined): Buffer {
  const secret = reply[NUMBER.SECRET_AT - 1] ?? given
  if (!secret) throw new Error('more messages were received than were asked for')
  return secret
}

function tryOpen(reply: ItemReply, seals: BodySeals | undefined) {
  try {
    return tryReadItem(reply, () => readItem(reply, seals))
  } catch (error) {
    if (error instanceof SealKeyError) return error
    throw error
  }
}
