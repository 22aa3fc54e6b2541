/**
 * Finds the credentials for calls to AWS. They come from a setting. Otherwise they are found on the machine, in the
 * same way as AWS's SDKs do.
 */
interface AwsKeys {
  accessKeyId: string
  secretAccessKey: string
  /** Only temporary credentials have a session token. */
  sessionToken?: string | undefined
}

/**
 * `default` stands for the default chain of AWS's SDKs. The chain looks at environment variables, web identity, shared
 * files, a process, and the endpoints of containers and instances. Temporary credentials are renewed before they
 * expire.
 */
export type AwsCredentials = AwsKeys | 'default'

type Provider = () => Promise<AwsKeys>

/** Credentials of the machine, once for each process. */
let provider: Promise<Provider> | undefined

export async function awsKeys(credentials: AwsCredentials): Promise<AwsKeys> {
  if (credentials !== 'default') return credentials
  provider ??= findProvider()
  return (await provider)()
}

/** The chain consists of many packages. They are loaded only if they are used. */
async function findProvider(): Promise<Provider> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node')
  return defaultProvider()
}

/** https://docs.aws.amazon.com/lambda/latest/api/CommonErrors.html, without `Exception` at the end of the names. */
const CREDENTIAL_ERRORS = new Set([
  'ExpiredToken',
  'IncompleteSignature',
  'InvalidClientTokenId',
  'InvalidSignature',
  'MissingAuthenticationToken',
  'RequestExpired',
  'SignatureDoesNotMatch',
  'UnrecognizedClient',
])
const UNAUTHORIZED = 401

/** Whether AWS refuses our own credentials, so that no call with them can succeed. */
export function isCredentialError(statusCode: number, name: string | undefined): boolean {
  return statusCode === UNAUTHORIZED || CREDENTIAL_ERRORS.has(name?.replace(/Exception$/, '') ?? '')
}

/** Headers in which services of AWS name an error. */
export const NAME_HEADERS: readonly string[] = ['x-amzn-errortype', 'x-amzn-query-error']

/**
 * In a header, a colon and a URL may follow the name, or a semicolon and the faulty side. In the body, a namespace and
 * a hash may precede it.
 */
export function errorNameOf(
  headers: Readonly<Record<string, string>>,
  body: Record<string, unknown> | undefined,
): string | undefined {
  const named = headers['x-amzn-errortype'] ?? body?.__type ?? headers['x-amzn-query-error']
  return typeof named === 'string' ? named.replace(/^.*#/, '').replace(/[:;].*$/, '') : undefined
}

/** DNS suffixes of AWS's partitions that differ from the usual suffix. */
const SUFFIXES = new Map([['aws-cn', 'amazonaws.com.cn']])
const SUFFIX = 'amazonaws.com'

interface Place {
  partition: string
  region: string
}

export function awsHost(service: string, { partition, region }: Place): string {
  return `${service}.${region}.${SUFFIXES.get(partition) ?? SUFFIX}`
}
