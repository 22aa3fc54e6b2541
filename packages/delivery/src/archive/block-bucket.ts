/** The blocks of archives as objects in a bucket, at S3 or at a service with the same API. */
import type { AttemptResult } from '@fantail/contracts'
import type { AwsSigner } from '../aws/aws-signer.ts'
import { within } from '../bounds/attempt-deadline.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { TRUSTED_ROUTE } from '../outbound/outbound-route.ts'
import type { BucketPlace } from '../streams/bucket-sink.ts'

interface BlockBucketOptions extends BucketPlace {
  sender: Pick<HttpSender, 'send'>
  aws: Pick<AwsSigner, 'sign'>
  /** Epoch ms. A signature contains this time. */
  clock: () => number
}

/** Time of one request to the bucket of archives. Past it: it has failed, and is made again later. */
const BUCKET_TIMEOUT_MS = 30_000
/** Bytes of a block that are read from a bucket. Past it: the block cannot be read. */
const BLOCK_READ_BYTES_MAX = 8_388_608
const NOT_FOUND = 404

export class BlockBucket {
  readonly #options: BlockBucketOptions

  constructor(options: BlockBucketOptions) {
    this.#options = options
  }

  async put(name: string, data: Buffer): Promise<void> {
    checked(await this.#request('PUT', name, data), name)
  }

  async get(name: string): Promise<Buffer | null> {
    const result = await this.#request('GET', name)
    if (result.kind === 'response' && result.statusCode === NOT_FOUND) return null
    const { body } = checked(result, name)
    if (body === undefined) throw new Error(`the bucket sent no whole object ${name}`)
    return body
  }

  async remove(name: string): Promise<void> {
    const result = await this.#request('DELETE', name)
    if (result.kind !== 'response' || result.statusCode !== NOT_FOUND) checked(result, name)
  }

  async #request(
    method: 'PUT' | 'GET' | 'DELETE',
    name: string,
    body: Buffer = Buffer.alloc(0),
  ): Promise<AttemptResult> {
    const { base, region, aws, clock, sender } = this.#options
    const url = `${base}${name.split('/').map(encodeURIComponent).join('/')}`
    const plain = { 'content-type': 'application/zstd', 'user-agent': 'Fantail' }
    const signed = { method, url, body, service: 's3', region, headers: plain, now: clock() }
    const headers = await within(BUCKET_TIMEOUT_MS, undefined, aws.sign(signed)).catch((cause: Error) => {
      throw new Error(`the request for the object ${name} cannot be signed: ${cause.message}`, { cause })
    })
    const bounds = { timeoutMs: BUCKET_TIMEOUT_MS, responseBytesMax: BLOCK_READ_BYTES_MAX }
    const { promise, resolve } = Promise.withResolvers<AttemptResult>()
    const request = { method, url, body, headers, route: TRUSTED_ROUTE, ...bounds }
    sender.send({ ...request, needsBody: method === 'GET' }, resolve)
    return promise
  }
}

/** Throws if the bucket has not done what it was asked for. */
function checked(result: AttemptResult, name: string) {
  if (result.kind !== 'response') throw new Error(`the object ${name}: ${result.detail}`)
  const { statusCode, body } = result
  if (statusCode >= 200 && statusCode < 300) return result
  const code = /<Code>(\w{1,64})<\/Code>/.exec(String(body?.subarray(0, 16_384) ?? ''))?.[1]
  throw new Error(`the bucket answered ${statusCode} ${code ?? ''} for the object ${name}`)
}
