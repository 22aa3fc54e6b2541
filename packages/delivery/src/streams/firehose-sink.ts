/**
 * Writes records to a delivery stream of Amazon Data Firehose, or of another service with the same API.
 * https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html
 */
import { type AttemptResult, isObject, objectOf } from '@fantail/contracts'
import { withoutTokens } from '@fantail/policy'
import { errorNameOf, isCredentialError } from '../aws/aws-credentials.ts'
import type { AwsSigner } from '../aws/aws-signer.ts'
import { failure } from '../http/attempt-failure.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { TRUSTED_ROUTE } from '../outbound/outbound-route.ts'
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

interface FirehoseSinkOptions {
  sender: Pick<HttpSender, 'send'>
  /** Epoch ms. A signature contains this time. */
  clock: () => number
  url: string
  streamName: string
  /** Name of the credentials, without a secret. */
  credential: string
  /** Undefined if the operator's settings name the URL; requests are then not signed. */
  signing: { aws: Pick<AwsSigner, 'sign'>; region: string } | undefined
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

  async put(records: readonly StreamRecord[], timeoutMs: number): Promise<PutResults> {
    const Records = records.map(({ data }) => ({ Data: data.toString('base64') }))
    const body = JSON.stringify({ DeliveryStreamName: this.#options.streamName, Records })
    const all = (result: AttemptResult) => records.map(() => result)
    let headers: Record<string, string>
    try {
      headers = await this.#headersOf(body)
    } catch (error) {
      return all(this.#misconfigured(`the request cannot be signed: ${reasonOf(error)}`))
    }
    const result = await this.#send(headers, body, timeoutMs)
    if (result.kind !== 'response') return all(result)
    const read = readPut(result, records.length)
    return 'results' in read ? read.results : all(this.#misconfigured(read.refused, result.durationMs))
  }

  async #headersOf(body: string): Promise<Record<string, string>> {
    const { signing, url, clock } = this.#options
    const headers = {
      'content-type': 'application/x-amz-json-1.1',
      'user-agent': 'Fantail',
      'x-amz-target': 'Firehose_20150804.PutRecordBatch',
    }
    if (!signing) return headers
    const { aws, region } = signing
    return aws.sign({ service: 'firehose', region, url, headers, body, now: clock() })
  }

  #send(headers: Record<string, string>, body: string, timeoutMs: number): Promise<AttemptResult> {
    const { url, signing, sender } = this.#options
    const request = {
      url,
      route: signing ? undefined : TRUSTED_ROUTE,
      headers,
      body,
      timeoutMs,
      responseHeaders: ['x-amzn-errortype'],
      responseBytesMax: PUT_ANSWER_BYTES_MAX,
    }
    return new Promise((resolve) => sender.send(request, resolve))
  }

  #misconfigured(detail: string, durationMs = 0): AttemptResult {
    return { kind: 'misconfigured', credential: this.credential, detail, durationMs }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}

/**
 * Reads the answer to PutRecordBatch. A 200 does not mean that all records were taken: each has its own result, in the
 * order of the request.
 * https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html
 */
type Response = Extract<AttemptResult, { kind: 'response' }>

/** Errors that mean "too many requests", whatever their status. */
const THROTTLED = /^(ServiceUnavailable|LimitExceeded|Throttling|TooManyRequests|SlowDown)/
const THROTTLED_STATUS = 429

/**
 * `refused`: the operator's credentials are refused, and the text has the reason. Otherwise the result of each record.
 */
type ReadPut = { refused: string } | { results: AttemptResult[] }

function readPut(response: Response, records: number): ReadPut {
  const { statusCode, body, headers = {}, durationMs } = response
  const value = body === undefined ? undefined : objectOf(body.toString())
  if (statusCode < 200 || statusCode > 299) {
    const name = errorNameOf(headers, value)
    const message = value?.message ?? value?.Message
    const said =
      typeof message === 'string'
        ? withoutTokens(`${name ?? statusCode}: ${message}`)
        : `${name ?? statusCode}`
    if (isCredentialError(statusCode, name)) return { refused: said }
    return { results: Array.from({ length: records }, () => refusal(response, name ?? '', message)) }
  }
  const answers = value?.RequestResponses
  if (!Array.isArray(answers) || answers.length !== records) {
    const unread = failure('invalid_response', 'the answer does not name each record', durationMs)
    return { results: Array.from({ length: records }, () => unread) }
  }
  return { results: answers.map((answer: unknown) => resultOf(answer, response)) }
}

function resultOf(answer: unknown, response: Response): AttemptResult {
  const { ErrorCode: name, ErrorMessage: message, RecordId: recordId } = isObject(answer) ? answer : {}
  if (typeof name === 'string' && name !== '')
    return { ...refusal(response, name, message), verdict: 'retry' }
  const { statusCode, durationMs } = response
  return { kind: 'response', statusCode, durationMs, text: JSON.stringify({ recordId }) }
}

function refusal(response: Response, name: string, message: unknown): Response {
  const { statusCode, durationMs } = response
  const text = withoutTokens(JSON.stringify({ ErrorCode: name, ErrorMessage: message }))
  const plain: Response = { kind: 'response', statusCode, durationMs, text }
  const isThrottled = statusCode === THROTTLED_STATUS || THROTTLED.test(name)
  return isThrottled ? { ...plain, isThrottled, verdict: 'retry' } : plain
}
