/**
 * Makes the result of an attempt whose secrets cannot be opened. Only the operator can solve that, with the right
 * master key. So the delivery waits, and no request is sent without its secrets.
 */
import type { AttemptResult } from '@fantail/contracts'
import { VaultError } from '@fantail/vault'
import { isMissingKey } from './outbound-secrets.ts'

const MASTER_KEY = 'FANTAIL_MASTER_KEY'

/** `owner`: the ARN or name of the record that has the secrets. */
export function unopenedSecrets(error: unknown, owner: string): AttemptResult {
  const reason = error instanceof Error ? error.message : 'unknown'
  const detail = `its secrets cannot be used: ${reason}`
  return { kind: 'misconfigured', credential: credentialOf(error, owner), detail, durationMs: 0 }
}

/** A missing key concerns every text that it has sealed. A damaged text concerns only its own record. */
function credentialOf(error: unknown, owner: string): string {
  return isMissingKey(error) ? missingKeyOf(error) : `secrets of ${owner}`
}

/** The name of the missing master key as a credential. `error`: see isMissingKey. */
export function missingKeyOf(error: unknown): string {
  return error instanceof VaultError && error.keyId !== undefined
    ? `${MASTER_KEY} ${error.keyId}`
    : MASTER_KEY
}
