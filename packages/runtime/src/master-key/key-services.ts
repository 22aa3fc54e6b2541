/**
 * Wraps and unwraps master keys by the key of a key service. Errors name the service and its answer, and have no cause:
 * requests and answers hold keys and logins.
 */
import type { WrappedKey, WrappingKey } from '@fantail/vault'
import { createAwsKms } from './aws-kms.ts'
import type { KeyService, KeyServiceSettings } from './key-service.ts'
import { createVaultTransit } from './vault-transit.ts'

export function unwrapKey({ id, by, ciphertext }: WrappedKey, settings: KeyServiceSettings): Promise<Buffer> {
  return serviceOf(by, settings).unwrap({ id, name: by.name }, ciphertext)
}

/** The ciphertext of these bytes, which are master key `id`. */
export function wrapKey(
  { id, bytes }: { id: string; bytes: Buffer },
  by: WrappingKey,
  settings: KeyServiceSettings,
): Promise<string> {
  return serviceOf(by, settings).wrap({ id, name: by.name }, bytes)
}

function serviceOf({ service }: WrappingKey, settings: KeyServiceSettings): KeyService {
  return service === 'awskms' ? createAwsKms(settings) : createVaultTransit(settings)
}
