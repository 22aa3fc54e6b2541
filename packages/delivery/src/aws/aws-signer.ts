/**
 * Signs requests to AWS with the operator's credentials (Signature Version 4). It signs only requests whose ARN the
 * operator's patterns allow. Callers of the API name ARNs, so without the patterns they could use the credentials for
 * everything.
 */
import { createHash, createHmac, createSecretKey, type Hash, type Hmac, type KeyObject } from 'node:crypto'
import { matchesArn } from '@fantail/policy'
import { SignatureV4 } from '@smithy/signature-v4'
import { type AwsCredentials, awsKeys } from './aws-credentials.ts'

interface AwsAccess {
  credentials: AwsCredentials
  /** ARN patterns (FANTAIL_AWS_TARGETS). */
  targets: readonly string[]
}

interface ToSign {
  /** Default: POST. */
  method?: 'POST' | 'PUT' | 'GET' | 'DELETE'
  service: string
  region: string
  url: string
  headers: Record<string, string>
  body: string | Buffer
  /** Epoch ms. */
  now: number
}

/** S3 is the only service for which the signature does not escape the path a second time. */
const ESCAPED_ONCE = 's3'

export class AwsSigner {
  readonly #access: AwsAccess

  constructor(access: AwsAccess) {
    this.#access = access
  }

  /**
   * A name of the credentials without their secret. It contains the region, because a region that the account has not
   * enabled refuses valid credentials. They then count as broken only for this region.
   */
  nameIn(region: string): string {
    const { credentials } = this.#access
    return `aws:${credentials === 'default' ? credentials : credentials.accessKeyId}:${region}`
  }

  allows(arn: string): boolean {
    return matchesArn(arn, this.#access.targets)
  }

  /** The headers of a request, with the signature's headers. The HTTP client adds `Host`. */
  async sign({
    method = 'POST',
    service,
    region,
    url,
    headers,
    body,
    now,
  }: ToSign): Promise<Record<string, string>> {
    const { protocol, host, hostname, pathname, searchParams } = new URL(url)
    const credentials = await awsKeys(this.#access.credentials)
    const uriEscapePath = service !== ESCAPED_ONCE
    const signer = new SignatureV4({ credentials, region, service, uriEscapePath, sha256: Sha256 })
    const request = {
      method,
      protocol,
      hostname,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: { ...headers, host },
      body,
    }
    const signed = await signer.sign(request, { signingDate: new Date(now) })
    const { host: _, ...others } = signed.headers
    return others
  }
}

/** The hash for the signer; with a secret, an HMAC. Node's is many times faster than the library's own. */
class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', keyOf(secret))
  }

  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(chunk))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  /** Does nothing, because the signer makes a new hash for each text. */
  reset(): void {
    throw new Error('a hash is used once')
  }
}

/** An HMAC takes 11 µs with a key of bytes, 3 µs with a KeyObject that is made for it, and 2 µs with a text. */
function keyOf(secret: string | ArrayBuffer | ArrayBufferView): string | KeyObject {
  return typeof secret === 'string' ? secret : createSecretKey(bytesOf(secret))
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data)
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return Buffer.from(data)
}
