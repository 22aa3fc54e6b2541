/**
 * Decides where the records of a stream are written. That is the place that the operator has set for the stream
 * (FANTAIL_STREAMS). Without such a place it is Firehose at AWS, if the operator's patterns allow the stream. Callers
 * of the API can name streams, but never a place.
 */
import { isRedisStream, parseStreamArn, type StreamArn } from '@fantail/policy'
import type { AwsCredentials } from '../aws/aws-credentials.ts'
import { AwsSigner } from '../aws/aws-signer.ts'
import type { BucketPlace } from './bucket-sink.ts'

/** Key of the map's entry for every stream without its own entry. */
const ANY = '*'

export interface StreamSettings {
  /** Place by name or ARN. */
  streams?: Readonly<Record<string, string>> | undefined
  aws?: Pick<AwsSigner, 'allows' | 'sign' | 'nameIn'> | undefined
}

/** `aws`: Firehose at AWS. Otherwise a URL that the operator has set. */
export type StreamPlace = { arn: StreamArn } & ({ kind: 'aws' } | { kind: 'mapped'; url: URL })

/** Undefined if no setting names such a stream, or if it may not be written to. */
export function placeOfStream(text: string, { streams = {}, aws }: StreamSettings): StreamPlace | undefined {
  const arn = parseStreamArn(text)
  if (!arn) return undefined
  const mapped = [text, arn.name, ANY].find((key) => Object.hasOwn(streams, key))
  if (mapped !== undefined) return { kind: 'mapped', url: new URL(streams[mapped] ?? ''), arn }
  return aws?.allows(text) ? { kind: 'aws', arn } : undefined
}

/**
 * The URL of a bucket in the operator's settings: `s3://bucket/prefix?region=eu-west-1` at AWS,
 * `s3+https://host/bucket/prefix` at another service. The second form may contain its own credentials.
 */
const REGION_DEFAULT = 'us-east-1'
const SCHEMES = new Map([
  ['s3+http:', 'http'],
  ['s3+https:', 'https'],
])

export function bucketOf(url: URL): BucketPlace | undefined {
  const region = url.searchParams.get('region') ?? REGION_DEFAULT
  const origin = originOf(url, region)
  const path = url.pathname.replace(/\/*$/, '/')
  if (origin === undefined) return undefined
  return { base: `${origin}${path}`, region, credential: `bucket:${url.host}${path}` }
}

function originOf({ protocol, host }: URL, region: string): string | undefined {
  if (protocol === 's3:') return `https://${host}.s3.${region}.amazonaws.com`
  const scheme = SCHEMES.get(protocol)
  return scheme && `${scheme}://${host}`
}

/** Signs with the credentials in the URL, or else with the credentials for all other calls to AWS. */
export function bucketSigner(url: URL, aws: AwsCredentials | undefined): AwsSigner | undefined {
  const { username, password } = url
  const own = { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) }
  const credentials = username === '' ? aws : own
  return credentials && new AwsSigner({ credentials, targets: [] })
}

/** @limit Entries of a Redis Stream, if its URL names no `maxlen`. Past it: Redis drops the oldest ones. */
const STREAM_ENTRIES_DEFAULT = 1_000_000

export interface RedisStreamPlace {
  /** The URL without the settings of the stream. */
  url: string
  /** Key of the stream. */
  stream: string
  entriesMax: number
  /** Name of the place, without a secret. */
  credential: string
}

/** `redis://host:6379/0?stream=orders&maxlen=1000000`. Undefined if the URL names no Redis. */
export function redisStreamOf(url: URL): RedisStreamPlace | undefined {
  if (!isRedisStream(url)) return undefined
  const stream = url.searchParams.get('stream') ?? ''
  const entriesMax = Number(url.searchParams.get('maxlen') ?? STREAM_ENTRIES_DEFAULT)
  const plain = new URL(url)
  plain.search = ''
  return { url: plain.href, stream, entriesMax, credential: `redis:${url.host}/${stream}` }
}
