/**
 * Writes records to a delivery stream of Amazon Data Firehose, or of another service with the same API.
 * https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html
 */
import { type AttemptResult, isObject } from '@fantail/contracts'
import { withoutTokens } from '@fantail/policy'
import { type AwsAnswer, type AwsCaller, type AwsPlace, type AwsResponse, callAws } from '../aws/aws-call.ts'
import { attemptDeadline } from '../bounds/attempt-deadline.ts'
import { failure } from '../http/attempt-failure.ts'
import type { PutResults, StreamRecord, StreamSink } from './stream-sink.ts'

/** Records of one PutRecordBatch, as in Firehose. Past it: further records go into another request. */
const FIREHOSE_RECORDS_MAX = 500
/**
 * Bytes of the records of one PutRecordBatch. Past it: further records go into another request. Firehose takes requests
 * of 4 MiB, and base64 turns three bytes into four.
 */
const FIREHOSE_BYTES_MAX = 3_000_000
/** @limit Bytes of one record, as in Firehose. Past it: the delivery has failed permanently. */
const FIREHOSE_RECORD_BYTES_MAX = 1_024_000
/** Time that the first record of a PutRecordBatch waits for others. After it: the request is sent. */
const FIREHOSE_LINGER_MS = 100
/** Answer of a stream that is read. Past it: all records of the request are sent again. */
const PUT_ANSWER_BYTES_MAX = 1_048_576

const TOO_LARGE = 413

const PUTTING = {
  service: 'firehose',
  version: '1.1',
  target: 'Firehose_20150804.PutRecordBatch',
  answerBytesMax: PUT_ANSWER_BYTES_MAX,
} as const

interface FirehoseSinkOptions extends AwsCaller, AwsPlace {
  streamName: string
}

export class FirehoseSink implements StreamSink {
  readonly recordsMax = FIREHOSE_RECORDS_MAX
  readonly bytesMax = FIREHOSE_BYTES_MAX
  readonly recordBytesMax = FIREHOSE_RECORD_BYTES_MAX
  readonly lingerMs = FIREHOSE_LINGER_MS
  readonly credential: string
  readonly provider: string
  readonly #options: FirehoseSinkOptions

  constructor(options: FirehoseSinkOptions) {
    this.credential = options.credential
    this.provider = new URL(options.url).host
    this.#options = options
  }

  put(records: readonly StreamRecord[], timeoutMs: number): Promise<PutResults> {
    return this.#put(records, attemptDeadline(timeoutMs))
  }

  /** A proxy may take smaller requests than Firehose does. What it refuses for its size goes in halves. */
  async #put(records: readonly StreamRecord[], signal: AbortSignal): Promise<PutResults> {
    const Records = records.map(({ data }) => ({ Data: data.toString('base64') }))
    const body = JSON.stringify({ DeliveryStreamName: this.#options.streamName, Records })
    const answer = await callAws(this.#options, this.#options, { ...PUTTING, body, signal })
    const isTooLarge = 'ended' in answer && answer.isOfProxy && answer.response?.statusCode === TOO_LARGE
    if (!isTooLarge || records.length === 1 || signal.aborted) return readPut(answer, records)
    const half = Math.ceil(records.length / 2)
    const first = await this.#put(records.slice(0, half), signal)
    return [...first, ...(await this.#put(records.slice(half), signal))]
  }
}

/** Errors that mean "too many requests", whatever their status. */
const THROTTLED = /^(ServiceUnavailable|LimitExceeded|Throttling|TooManyRequests|SlowDown)/
const THROTTLED_STATUS = 429

/**
 * Reads the answer to PutRecordBatch. A 200 does not mean that all records were taken: each has its own result, in the
 * order of the request.
 */
function readPut(answer: AwsAnswer, records: readonly StreamRecord[]): PutResults {
  const all = (result: AttemptResult) => records.map(() => result)
  if ('ended' in answer) return all(answer.ended)
  const { response } = answer
  if (!('value' in answer)) return all(refusal(response, answer.name ?? '', answer.message))
  const answers = answer.value?.RequestResponses
  if (!Array.isArray(answers) || answers.length !== records.length)
    return all(failure('invalid_response', 'the answer does not name each record', response.durationMs))
  return answers.map((one: unknown) => resultOf(one, response))
}

function resultOf(answer: unknown, response: AwsResponse): AttemptResult {
  const { ErrorCode: name, ErrorMessage: message, RecordId: recordId } = isObject(answer) ? answer : {}
  if (typeof name === 'string' && name !== '')
    return { ...refusal(response, name, message), resultClass: 'retry' }
  const { statusCode, durationMs } = response
  return { kind: 'response', statusCode, durationMs, text: JSON.stringify({ recordId }) }
}

function refusal(response: AwsResponse, name: string, message: unknown): AwsResponse {
  const { statusCode, durationMs } = response
  const text = withoutTokens(JSON.stringify({ ErrorCode: name, ErrorMessage: message }))
  const plain: AwsResponse = { kind: 'response', statusCode, durationMs, text }
  const isThrottled = statusCode === THROTTLED_STATUS || THROTTLED.test(name)
  return isThrottled ? { ...plain, isThrottled, resultClass: 'retry' } : plain
}
