/** Searches the dead letters of several queues: queue by queue, the oldest letter first. */
import { FantailError, type QueueMessage, type RedriveFilter } from '@fantail/contracts'
import { decodeCursor, encodeCursor, SEARCH_MS_MAX } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { SearchedQueue } from './search-scope.ts'

/** Letters that one read takes. Past it: the next read takes the others. */
const LETTERS_PER_READ = 100

interface LetterSearchRequest<Found> {
  /** In the order of their ARNs. */
  queues: readonly SearchedQueue[]
  /** Also messages that a queue has moved. They are no dead letters of deliveries. */
  withMoved: boolean
  filter: RedriveFilter
  /** Asked before letters of the queue are read. */
  mayRead(queueArn: string): Promise<boolean>
  /** Gives the find that a message of a queue makes. undefined: it is none, or does not fit. */
  find(item: QueueMessage, queueArn: string): Found | undefined
  limit: number
  cursor?: string | undefined
  signal: AbortSignal
}

interface LetterSearchResult<Found> {
  found: Found[]
  /** Messages that this answer has looked at. */
  scanned: number
  queuesDone: number
  nextCursor: string | null
}

export async function searchLetters<Found>(
  { queues }: Pick<ApiDeps, 'queues'>,
  request: LetterSearchRequest<Found>,
): Promise<LetterSearchResult<Found>> {
  const { filter, limit, find, signal, withMoved } = request
  const [first, within] = request.cursor === undefined ? ['', ''] : decodeCursor(request.cursor, 2)
  const endsAt = performance.now() + SEARCH_MS_MAX
  const found: Found[] = []
  let scanned = 0
  const answer = (queuesDone: number, nextCursor: string | null) => ({
    found,
    scanned,
    queuesDone,
    nextCursor,
  })
  const isOver = () => found.length === limit || performance.now() >= endsAt || signal.aborted
  for (const [n, { arn: queueArn, mayHaveMoved }] of request.queues.entries()) {
    if (queueArn < (first ?? '')) continue
    let cursor = queueArn === first && within !== '' ? within : undefined
    const mayHave = (withMoved && mayHaveMoved) || (await hasLetters(queues, queueArn))
    if (!mayHave || !(await request.mayRead(queueArn))) continue
    do {
      const { items, next } = await read(queues, queueArn, { filter, limit: limit - found.length, cursor })
      scanned += items.length
      for (const item of items) {
        const fits = find(item, queueArn)
        if (fits) found.push(fits)
      }
      cursor = next
      if (cursor !== undefined && isOver()) return answer(n, encodeCursor([queueArn, cursor]))
    } while (cursor !== undefined)
    const following = request.queues[n + 1]
    if (following !== undefined && isOver()) return answer(n + 1, encodeCursor([following.arn, '']))
  }
  return answer(request.queues.length, null)
}

type Queues = Pick<ApiDeps['queues'], 'peek' | 'deadLetterCounts'>

/** Other queues may be long, and are not read. */
async function hasLetters(queues: Queues, arn: string): Promise<boolean> {
  const counts = await ifThere(() => queues.deadLetterCounts(arn))
  return Object.values(counts?.byReason ?? {}).some((count) => count > 0)
}

interface Asked {
  filter: RedriveFilter
  limit: number
  cursor: string | undefined
}

async function read(
  queues: Queues,
  arn: string,
  { filter, limit, cursor }: Asked,
): Promise<{ items: QueueMessage[]; next: string | undefined }> {
  const asked = {
    ...filter,
    limit: Math.min(LETTERS_PER_READ, limit),
    ...(cursor !== undefined && { cursor }),
  }
  const page = await ifThere(() => queues.peek(arn, asked))
  return { items: page?.items ?? [], next: page?.nextCursor ?? undefined }
}

/** undefined: the queue was deleted a moment ago. */
async function ifThere<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FantailError && error.code === 'not_found') return undefined
    throw error
  }
}
