/**
 * Writes records as objects into a bucket, at S3 or at a service with the same API. The operator has chosen the bucket,
 * so a refusal means that the settings are wrong. It does not count against a message.
 */
import type { AttemptResult } from '@fantail/contracts'
import { signedBy } from '../aws/aws-call.ts'
import type { AwsSigner } from '../aws/aws-signer.ts'
import { timeLeft, within } from '../bounds/attempt-deadline.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { TRUSTED_ROUTE } from '../outbound/outbound-route.ts'
import { OBJECT_BYTES_MAX, OBJECT_RECORDS_MAX, objectBody, objectName } from './sink-objects.ts'
import type { PutResults, StreamRecord, StreamSink } from './stream-sink.ts'

/** Error answer of a bucket that is read. Past it: only its status is reported. */
const REFUSAL_BYTES_MAX = 16_384
/** Refusals that are temporary. */
const TEMPORARY = new Set([408, 409, 429])
/** Statuses of S3's answer to too many requests, `SlowDown`. */
const SLOW_DOWN = new Set([429, 503])

export interface BucketPlace {
  /** Common beginning of the objects' URLs, with a slash at the end. */
  base: string
  region: string
  /** Name of the credentials, without a secret. */
  credential: string
}

interface BucketSinkOptions extends BucketPlace {
  sender: Pick<HttpSender, 'send'>
  /** Undefined if AWS credentials are not set. */
  aws: Pick<AwsSigner, 'sign'> | undefined
  /** Epoch ms. A signature contains this time. */
  clock: () => number
  streamName: string
  lingerMs: number
}

export class BucketSink implements StreamSink {
  readonly recordsMax = OBJECT_RECORDS_MAX
  readonly bytesMax = OBJECT_BYTES_MAX
  readonly recordBytesMax = OBJECT_BYTES_MAX
  readonly lingerMs: number
  readonly credential: string
  readonly provider: string
  readonly #options: BucketSinkOptions

  constructor(options: BucketSinkOptions) {
    this.lingerMs = options.lingerMs
    this.credential = options.credential
    this.provider = new URL(options.base).host
    this.#options = options
  }

  async put(records: readonly StreamRecord[], timeoutMs: number): Promise<PutResults> {
    const name = objectName(this.#options.streamName, records)
    const result = await this.#putObject(name, await objectBody(records), timeoutMs)
    return records.map(() => result)
  }

  async #putObject(name: string, body: Buffer, timeoutMs: number): Promise<AttemptResult> {
    const { base, region, aws, clock, sender } = this.#options
    const url = `${base}${name.split('/').map(encodeURIComponent).join('/')}`
    const plain = { 'content-type': 'application/gzip', 'user-agent': 'Fantail' }
    const method = 'PUT' as const
    const sent = { method, url, body }
    const signed = { ...sent, service: 's3', region, headers: plain, now: clock() }
    if (!aws) return this.#misconfigured('AWS credentials are not set')
    const startedAt = performance.now()
    const head = await signedBy(this.credential, within(timeoutMs, undefined, aws.sign(signed)))
    if ('ended' in head) return head.ended
    const left = timeLeft(timeoutMs, performance.now() - startedAt)
    const bounds = { timeoutMs: left, responseBytesMax: REFUSAL_BYTES_MAX }
    const request = { ...sent, ...head, ...bounds, route: TRUSTED_ROUTE }
    const { promise, resolve } = Promise.withResolvers<AttemptResult>()
    sender.send(request, resolve)
    return this.#judged(await promise, name)
  }

  #judged(result: AttemptResult, name: string): AttemptResult {
    if (result.kind !== 'response') return result
    const { statusCode, durationMs, body, retryAfterSeconds } = result
    const code = /<Code>(\w{1,64})<\/Code>/.exec(body?.toString() ?? '')?.[1]
    const plain = { kind: 'response', statusCode, durationMs, text: JSON.stringify({ name, code }) } as const
    if (statusCode >= 200 && statusCode < 300) return plain
    if (statusCode < 500 && !TEMPORARY.has(statusCode))
      return this.#misconfigured(`the bucket answered ${statusCode} ${code ?? ''}`.trim(), durationMs)
    return {
      ...plain,
      resultClass: 'retry',
      ...(SLOW_DOWN.has(statusCode) && { isThrottled: true }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    }
  }

  #misconfigured(detail: string, durationMs = 0): AttemptResult {
    return { kind: 'misconfigured', credential: this.credential, detail, durationMs }
  }
}
