/**
 * The URL of a bucket in the operator's settings: `s3://bucket/prefix?region=eu-west-1` at AWS,
 * `s3+https://host/bucket/prefix` at another service. The second form may contain its own credentials.
 */
import type { AwsCredentials } from '../aws/aws-credentials.ts'
import { AwsSigner } from '../aws/aws-signer.ts'
import type { BucketPlace } from './bucket-sink.ts'

const REGION_DEFAULT = 'us-east-1'
const SCHEMES: Record<string, string> = { 's3+http:': 'http', 's3+https:': 'https' }

/** Undefined if the URL does not name a bucket. */
export function bucketOf(url: URL): BucketPlace | undefined {
  const region = url.searchParams.get('region') ?? REGION_DEFAULT
  const origin = originOf(url, region)
  const path = url.pathname.replace(/\/*$/, '/')
  if (origin === undefined) return undefined
  return { base: `${origin}${path}`, region, credential: `bucket:${url.host}${path}` }
}

function originOf({ protocol, host }: URL, region: string): string | undefined {
  if (protocol === 's3:') return `https://${host}.s3.${region}.amazonaws.com`
  const scheme = SCHEMES[protocol]
  return scheme && `${scheme}://${host}`
}

/** Signs with the credentials in the URL, or else with the credentials for all other calls to AWS. */
export function bucketSigner(url: URL, aws: AwsCredentials | undefined): AwsSigner | undefined {
  const { username, password } = url
  const own = { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) }
  const credentials = username === '' ? aws : own
  return credentials && new AwsSigner({ credentials, targets: [] })
}
