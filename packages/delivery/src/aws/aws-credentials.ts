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
