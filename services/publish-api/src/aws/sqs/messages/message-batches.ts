/** Rules of all three batch operations (checklist 181, 182), and the results of their entries. */
import { AwsError, type AwsInput } from '@fantail/aws-wire'
import { sqsError } from '../wire/sqs-error.ts'

/** @limit Entries of an SQS batch. Past it: the request is refused. */
const SQS_ENTRIES_MAX = 10
const ENTRY_ID = /^[A-Za-z0-9_-]{1,80}$/

interface Entry extends AwsInput {
  Id: string
}

/** The entries of a batch. Throws if the whole batch must be refused. */
export function readEntries({ Entries }: AwsInput, operation: string): Entry[] {
  const entries = (Entries ?? []) as AwsInput[]
  if (entries.length === 0) {
    const text = `There should be at least one ${operation}RequestEntry in the request.`
    throw sqsError('EmptyBatchRequest', text)
  }
  if (entries.length > SQS_ENTRIES_MAX) {
    const text = `Maximum number of entries per request are ${SQS_ENTRIES_MAX}. You have sent ${entries.length}.`
    throw sqsError('TooManyEntriesInBatchRequest', text)
  }
  checkIds(entries)
  return entries as Entry[]
}

function checkIds(entries: AwsInput[]): void {
  const seen = new Set<unknown>()
  for (const { Id } of entries) {
    if (typeof Id !== 'string' || !ENTRY_ID.test(Id)) {
      const text = 'can only contain alphanumeric characters, hyphens and underscores. It can be at most 80'
      throw sqsError('InvalidBatchEntryId', `A batch entry id ${text} letters long.`)
    }
    if (seen.has(Id)) throw sqsError('BatchEntryIdsNotDistinct', `Id ${Id} repeated.`)
    seen.add(Id)
  }
}

/** The entries of a batch that were not refused. */
export function accepted<T extends object>(outcomes: (T | AwsError)[]): T[] {
  return outcomes.filter((outcome): outcome is T => !(outcome instanceof AwsError))
}

type Answer = Record<string, unknown>

/** The answer with the outcome of each entry: its result or its refusal. */
export function batchAnswer(entries: Entry[], outcomes: (Answer | AwsError)[]): Answer {
  const successful: Answer[] = []
  const failed: Answer[] = []
  for (const [index, { Id }] of entries.entries()) {
    const outcome = outcomes[index]
    if (outcome instanceof AwsError) failed.push({ Id, ...failure(outcome) })
    else successful.push({ Id, ...outcome })
  }
  return {
    ...(successful.length > 0 && { Successful: successful }),
    ...(failed.length > 0 && { Failed: failed }),
  }
}

function failure({ status, code, message }: AwsError): Answer {
  return { SenderFault: status < 500, Code: code, Message: message }
}
