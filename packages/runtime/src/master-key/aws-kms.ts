/**
 * Wraps master keys by a key of AWS KMS. The encryption context names the master key, so that policies can require it,
 * and CloudTrail shows it. The SDK is loaded when it is needed: most processes never ask KMS.
 */
import type { KMSClient } from '@aws-sdk/client-kms'
import { KEY_REQUEST_MS, type KeyService, type KeyServiceSettings } from './key-service.ts'

type Sdk = typeof import('@aws-sdk/client-kms')
type Call<T> = (client: KMSClient, sdk: Sdk, options: { abortSignal: AbortSignal }) => Promise<T>

export function createAwsKms({ awsClientCredentials }: KeyServiceSettings): KeyService {
  const credentials = awsClientCredentials === 'default' ? undefined : awsClientCredentials
  const ask = async <T>(name: string, call: Call<T>): Promise<T> => {
    const sdk = await import('@aws-sdk/client-kms')
    // Whoever asks tries again by itself.
    const client = new sdk.KMSClient({
      region: regionOf(name),
      maxAttempts: 1,
      ...(credentials && { credentials }),
    })
    try {
      return await call(client, sdk, { abortSignal: AbortSignal.timeout(KEY_REQUEST_MS) })
    } catch (error) {
      throw new Error(`AWS KMS does not help with ${name}: ${reasonOf(error)}`)
    } finally {
      client.destroy()
    }
  }
  return {
    async wrap({ id, name }, bytes) {
      const request = { KeyId: name, Plaintext: bytes, EncryptionContext: contextOf(id) }
      const { CiphertextBlob } = await ask(name, (client, { EncryptCommand }, options) =>
        client.send(new EncryptCommand(request), options),
      )
      return Buffer.from(CiphertextBlob ?? []).toString('base64')
    },
    async unwrap({ id, name }, ciphertext) {
      const CiphertextBlob = Buffer.from(ciphertext, 'base64')
      const request = { KeyId: name, CiphertextBlob, EncryptionContext: contextOf(id) }
      const { Plaintext } = await ask(name, (client, { DecryptCommand }, options) =>
        client.send(new DecryptCommand(request), options),
      )
      return Buffer.from(Plaintext ?? [])
    },
  }
}

function regionOf(arn: string): string {
  return arn.split(':')[3] ?? ''
}

function contextOf(id: string): Record<string, string> {
  return { 'fantail:masterKey': id }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return error.message === '' ? error.name : `${error.name}: ${error.message}`
}
