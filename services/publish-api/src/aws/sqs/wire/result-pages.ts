/** MaxResults and NextToken for the store's pages. */
import type { AwsInput } from '@fantail/aws-wire'
import { FantailError } from '@fantail/contracts'
import { decodeCursor, encodeCursor, type Page } from '@fantail/store'
import { invalidParameterValue } from './sqs-error.ts'

/** @limit Members of one page of an SQS list, and the default. Past it: the request is refused. */
const SQS_RESULTS_MAX = 1_000

interface PageRequest {
  cursor?: string
  limit: number
}

interface Pages<T> {
  items: T[]
  nextToken: string | null
}

export async function pageOf<T>(
  { MaxResults, NextToken }: AwsInput,
  read: (page: PageRequest) => Promise<Page<T>>,
): Promise<Pages<T>> {
  const limit = MaxResults === undefined ? SQS_RESULTS_MAX : Number(MaxResults)
  if (limit < 1 || limit > SQS_RESULTS_MAX) {
    const text = `MaxResults must be an integer between 1 and ${SQS_RESULTS_MAX}.`
    throw invalidParameterValue(`Value for parameter MaxResults is invalid. Reason: ${text}`)
  }
  const cursor = NextToken === undefined ? undefined : String(NextToken)
  try {
    const { items, nextCursor } = await read({ limit, ...(cursor && { cursor }) })
    return { items, nextToken: nextCursor }
  } catch (error) {
    throw isBadCursor(error) ? invalidParameterValue('Invalid or expired next token.') : error
  }
}

/** A page of names that are all in memory, in their order. */
export function pageAfter(names: string[], { cursor, limit }: PageRequest): Page<string> {
  const after = cursor === undefined ? '' : (decodeCursor(cursor, 1)[0] ?? '')
  const rest = names.filter((name) => name > after)
  const items = rest.slice(0, limit)
  const last = rest.length > limit ? items.at(-1) : undefined
  return { items, nextCursor: last === undefined ? null : encodeCursor([last]) }
}

function isBadCursor(error: unknown): boolean {
  return error instanceof FantailError && error.details?.[0]?.path === 'cursor'
}
