/** Key services wrap master keys by one of their own keys. */

export interface KeyService {
  /** Resolves with the text that unwraps to these bytes. */
  wrap(key: Wrapping, bytes: Buffer): Promise<string>
  unwrap(key: Wrapping, ciphertext: string): Promise<Buffer>
}

interface Wrapping {
  /** The id of the master key. */
  id: string
  /** The name of the service's key. */
  name: string
}

export interface KeyServiceSettings {
  /** Absent or `default`: what AWS's SDKs find. */
  awsClientCredentials?:
    | 'default'
    | { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined }
    | undefined
  vaultUrl?: string | undefined
  vaultLogin?:
    | { by: 'token'; token: string }
    | { by: 'approle'; roleId: string; secretId: string }
    | { by: 'kubernetes'; role: string }
    | undefined
}

/** A request to a key service takes no longer. After it: it counts as failed. */
export const KEY_REQUEST_MS = 5_000
