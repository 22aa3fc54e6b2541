/** What is done to a received message by its receipt handle (sns-semantics §8.8): delete it, change how long it is hidden. */
import { type AwsCall, AwsError, type AwsInput, type Operation } from '@fantail/aws-wire'
import { QUEUE_VISIBILITY_SECONDS_MAX } from '@fantail/contracts'
import type { HandleError, HandleResult, VisibilityChange } from '@fantail/store'
import type { ApiDeps } from '../../deps.ts'
import { outcomeOf } from '../errors.ts'
import { accepted, batchAnswer, readEntries } from './batches.ts'
import { batchShapes } from './message-shapes.ts'
import { queueArnOf, whereQueueExists } from './queue-url.ts'
import { readVisibility } from './receive-message.ts'
import { invalidValue, missingParameter, sqsError } from './sqs-error.ts'

const HANDLE = { ReceiptHandle: 'string' } as const
const CHANGE = { ...HANDLE, VisibilityTimeout: 'integer' } as const

/** One kind of work on handles, as an operation on one and as one on a batch. */
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
      const [outcome] = await carryOut(deps, { kind, arn, call, read: [readChange(input, kind)] })
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
      return batchAnswer(entries, await carryOut(deps, { kind, arn, call, read }))
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
}

/** Of each change its empty result or its refusal, in order. */
async function carryOut(
  deps: ApiDeps,
  { kind, arn, call, read }: Work,
): Promise<(AwsError | Record<string, never>)[]> {
  const results = await whereQueueExists(call, kind.run(deps, arn, accepted(read)))
  let next = 0
  return read.map((change) => {
    if (change instanceof AwsError) return change
    const result = results[next++]
    return result && !result.ok ? refusal(change, result.error) : {}
  })
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
      const reason = 'Message does not exist or is not available for visibility timeout change.'
      return invalidValue('ReceiptHandle', handle, reason)
    }
    case 'visibility_limit_exceeded': {
      const reason = `Total VisibilityTimeout for the message is beyond the limit [${QUEUE_VISIBILITY_SECONDS_MAX} seconds]`
      return invalidValue('VisibilityTimeout', seconds, reason)
    }
  }
}
