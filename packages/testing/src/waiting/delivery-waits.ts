/** Waits for the ends of deliveries, by `GET /v1/messages/{id}/deliveries`. */
import { type Fantail, FantailError } from '@fantail/client'
import type { Delivery, QueueMessage } from '@fantail/client/api'
import { type WaitOptions, WaitTimeoutError, waitUntil } from './wait-until.ts'

type State = Delivery['state']

/** Dead letters that a test waits for and gets. Past it: the number is refused. */
const LETTERS_MAX = 1_000
const LETTERS_PER_PAGE = 100
const OPEN: readonly State[] = ['waiting', 'inFlight']

export interface DeliveryWait extends WaitOptions {
  /** Only the delivery to this subscription. Default: every delivery of the message whose filter matches. */
  subscription?: { id: string } | string | undefined
}

export interface LetterWait extends WaitOptions {
  /** Default: 1. */
  count?: number | undefined
}

export interface Watched {
  fantail: Fantail
  /** The state of these messages and of the lanes, for errors. */
  stand(messageIds: readonly string[]): Promise<string>
}

export function isOpen({ state }: Delivery): boolean {
  return OPEN.includes(state)
}

/** undefined: the message was not matched yet. */
export async function deliveriesOf(fantail: Fantail, messageId: string): Promise<Delivery[] | undefined> {
  return unlessMissing(fantail.messages(messageId).deliveries())
}

/**
 * Resolves with the deliveries when all have the state. Rejects at once if one of them has ended in another way,
 * because it will not change by itself.
 */
export async function waitForState(
  { fantail, stand }: Watched,
  messageId: string,
  state: 'delivered' | 'deadLettered',
  { subscription, timeoutMs }: DeliveryWait,
): Promise<Delivery[]> {
  const id = typeof subscription === 'string' ? subscription : subscription?.id
  const whose = id === undefined ? '' : ` to subscription ${id}`
  const what = `message ${messageId}${whose} to be ${state}`
  const explain = () => stand([messageId])
  const check = async () => {
    const wanted = (await deliveriesOf(fantail, messageId))?.filter(({ subscriptionId, state }) =>
      id === undefined ? state !== 'filtered' : subscriptionId === id,
    )
    const other = wanted?.find((delivery) => delivery.state !== state && !isOpen(delivery))
    if (other) throw new WaitTimeoutError(`waited for ${what}, but it was ${other.state}\n${await explain()}`)
    return wanted && wanted.length > 0 && wanted.every((delivery) => delivery.state === state)
      ? wanted
      : undefined
  }
  return waitUntil(check, { what, timeoutMs, explain })
}

/** Resolves with the queue's messages when there are at least `count`. */
export async function waitForLetters(
  { fantail, stand }: Watched,
  queue: string,
  { count = 1, timeoutMs }: LetterWait,
  messageIds: () => string[],
): Promise<QueueMessage[]> {
  if (!Number.isSafeInteger(count) || count < 1 || count > LETTERS_MAX) {
    throw new TypeError(`count must be from 1 to ${LETTERS_MAX}, not ${count}`)
  }
  let found: QueueMessage[] | undefined
  const what = () =>
    `${count} dead letters in ${queue}, ${found ? `${found.length} came` : 'it does not exist'}`
  const check = async () => {
    found = await unlessMissing(firstLetters(fantail, queue))
    return found && found.length >= count ? found : undefined
  }
  return waitUntil(check, { what, timeoutMs, explain: () => stand(messageIds()) })
}

async function firstLetters(fantail: Fantail, queue: string): Promise<QueueMessage[]> {
  const letters: QueueMessage[] = []
  for await (const letter of fantail.queues(queue).peek({ limit: LETTERS_PER_PAGE })) {
    if (letters.push(letter) === LETTERS_MAX) break
  }
  return letters
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof FantailError && error.code === 'not_found') return undefined
    throw error
  }
}
