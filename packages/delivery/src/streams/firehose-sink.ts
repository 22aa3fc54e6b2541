/**
 * Writes records to a delivery stream of Amazon Data Firehose, or of another service with the same API.
 * https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html
 */
import type { AttemptResult } from '@fantail/contracts'
import type { AwsSigner } from '../aws/aws-signer.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { TRUSTED_ROUTE } from '../outbound/outbound-route.ts'
import { readPut } from './put-answer.ts'
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
