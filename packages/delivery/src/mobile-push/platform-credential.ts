/** Seals the credentials of platform applications, and opens them for attempts. */
import type { PlatformApplicationRecord, PlatformCredential } from '@fantail/contracts'
import { NoVaultError, type Sealing } from '../outbound/outbound-secrets.ts'

/** The seal's context: the owner of the credential. */
export function platformContext({ arn }: Pick<PlatformApplicationRecord, 'arn'>): string {
  return `platform application ${arn}`
}

/** Throws a NoVaultError if there is no vault. */
export function sealPlatformCredential(
  credential: PlatformCredential,
  application: Pick<PlatformApplicationRecord, 'arn'>,
  vault: Sealing | undefined,
): string {
  if (!vault) throw new NoVaultError()
  return vault.seal(JSON.stringify(credential), platformContext(application))
}

/** Throws a NoVaultError, or the vault's error. */
export function openPlatformCredential(
  application: Pick<PlatformApplicationRecord, 'arn' | 'sealed'>,
  vault: Sealing | undefined,
): PlatformCredential {
  if (!vault) throw new NoVaultError('open secrets')
  return JSON.parse(vault.open(application.sealed, platformContext(application))) as PlatformCredential
}
