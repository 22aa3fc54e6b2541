/**
 * Deletes a received message by its receipt handle, or changes how long it is hidden. On a standard queue, a handle of
 * any receive works (checklist 202 and 203).
 */
import { type AwsCall, AwsError, type AwsInput, type Operation } from '@fantail/aws-wire'
import { QUEUE_VISIBILITY_SECONDS_MAX } from '@fantail/contracts'
import type { HandleError, HandleResult, VisibilityChange } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { outcomeOf } from '../../wire/thrown-errors.ts'
import { queueArnOf, whereQueueExists } from '../wire/queue-url.ts'
import { invalidValue, missingParameter, sqsError } from '../wire/sqs-error.ts'
import { batchShapes } from '../wire/sqs-shapes.ts'
import { accepted, batchAnswer, readEntries } from './message-batches.ts'
import { readVisibility } from './receive-message.ts'

const HANDLE = { ReceiptHandle: 'string' } as const
const CHANGE = { ...HANDLE, VisibilityTimeout: 'integer' } as const

const NOT_AVAILABLE = 'Message does not exist or is not available for visibility timeout change'

/** A change by handles, which has one operation for a single handle and one for a batch. */
interface Kind {
  name: string
  entry: typeof HANDLE | typeof CHANGE
  run(deps: ApiDeps, arn: string, changes: VisibilityChange[]): Promise<HandleResult[]>
}

const DELETE: Kind = {
  name: 'DeleteMessage',
  entry: HANDLE,
  run: ({ queues }, arn, changes) =>
    queues.ack(
      arn,
      changes.map(({ handle }) => handle),
    ),
}

const CHANGE_VISIBILITY: Kind = {
  name: 'ChangeMessageVisibility',
  entry: CHANGE,
  run: ({ queues }, arn, changes) => queues.changeVisibility(arn, changes),
}

export function handleOperations(deps: ApiDeps): Operation[] {
  return [DELETE, CHANGE_VISIBILITY].flatMap((kind) => [single(deps, kind), batch(deps, kind)])
}

function single(deps: ApiDeps, kind: Kind): Operation {
  return {
    name: kind.name,
    input: { QueueUrl: 'string', ...kind.entry },
    output: null,
    run: async (input, call) => {
      const arn = queueArnOf(deps.settings, input, call)
      const read = [readChange(input, kind)]
      const [outcome] = await carryOut(deps, { kind, arn, call, read, refusal })
      if (outcome instanceof AwsError) throw outcome
      return undefined
    },
  }
}

function batch(deps: ApiDeps, kind: Kind): Operation {
  const name = `${kind.name}Batch`
  return {
    name,
    ...batchShapes(name, kind.entry, {}),
    run: async (input, call) => {
      const arn = queueArnOf(deps.settings, input, call)
      const entries = readEntries(input, name)
      const read = entries.map((entry) => outcomeOf(() => readChange(entry, kind)))
      return batchAnswer(entries, await carryOut(deps, { kind, arn, call, read, refusal: entryRefusal }))
    },
  }
}

function readChange(input: AwsInput, kind: Kind): VisibilityChange {
  const { ReceiptHandle: handle } = input
  if (typeof handle !== 'string' || handle === '') throw missingParameter('ReceiptHandle')
  const seconds = readVisibility(input)
  if (kind.entry === CHANGE && seconds === undefined) throw missingParameter('VisibilityTimeout')
  return { handle, seconds: seconds ?? 0 }
}

interface Work {
  kind: Kind
  arn: string
  call: AwsCall
  read: (VisibilityChange | AwsError)[]
  refusal: typeof refusal
}

/** For each change, in order, its empty result or its refusal. */
async function carryOut(
  deps: ApiDeps,
  { kind, arn, call, read, refusal }: Work,
): Promise<(AwsError | Record<string, never>)[]> {
  const results = await whereQueueExists(call, kind.run(deps, arn, accepted(read)))
  let next = 0
  return read.map((change) => {
    if (change instanceof AwsError) return change
    const result = results[next++]
    return result && !result.ok ? refusal(change, result.error) : {}
  })
}

/** The refusal of an entry of a batch. SQS has one text that differs (recorded: no full stop). */
function entryRefusal(change: VisibilityChange, error: HandleError): AwsError {
  return error === 'message_not_available'
    ? sqsError('ReceiptHandleIsInvalid', NOT_AVAILABLE)
    : refusal(change, error)
}

function refusal({ handle, seconds }: VisibilityChange, error: HandleError): AwsError {
  switch (error) {
    case 'invalid_receipt_handle': {
      const text = `The input receipt handle "${handle}" is not a valid receipt handle.`
      return sqsError('ReceiptHandleIsInvalid', text)
    }
    case 'expired_receipt_handle':
      return invalidValue('ReceiptHandle', handle, 'The receipt handle has expired.')
    case 'message_not_available': {
      return invalidValue('ReceiptHandle', handle, `${NOT_AVAILABLE}.`)
    }
    case 'visibility_limit_exceeded': {
      const reason = `Total VisibilityTimeout for the message is beyond the limit [${QUEUE_VISIBILITY_SECONDS_MAX} seconds]`
      return invalidValue('VisibilityTimeout', seconds, reason)
    }
  }
}
