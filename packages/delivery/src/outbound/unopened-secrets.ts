/**
 * Makes the result of an attempt whose secrets cannot be opened. Only the operator can solve that, with the right
 * master key. So the delivery waits, and no request is sent without its secrets.
 */
import type { AttemptResult } from '@fantail/contracts'
import { VaultError } from '@fantail/vault'
import { NoVaultError } from './outbound-secrets.ts'

/** `owner`: the ARN or name of the record that has the secrets. */
export function unopenedSecrets(error: unknown, owner: string): AttemptResult {
  const reason = error instanceof Error ? error.message : 'unknown'
  const detail = `its secrets cannot be used: ${reason}`
  return { kind: 'misconfigured', credential: credentialOf(error, owner), detail, durationMs: 0 }
}

/** A missing key concerns every text that it has sealed. A damaged text concerns only its own record. */
function credentialOf(error: unknown, owner: string): string {
  if (error instanceof NoVaultError) return 'FANTAIL_MASTER_KEY'
  if (error instanceof VaultError && error.keyId !== undefined) return `FANTAIL_MASTER_KEY ${error.keyId}`
  return `secrets of ${owner}`
}
