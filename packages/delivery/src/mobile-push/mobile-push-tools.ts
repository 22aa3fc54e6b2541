/** The records that push attempts need, and their credentials. packages/store/src/mobile-push stores the records. */
import type {
  PlatformApplicationRecord,
  PlatformCredential,
  PlatformEndpointRecord,
} from '@fantail/contracts'
import { NoVaultError, type Sealing } from '../outbound/outbound-secrets.ts'

export interface MobilePushTools {
  application(arn: string): Promise<PlatformApplicationRecord | null>
  endpoint(arn: string): Promise<PlatformEndpointRecord | null>
  /** Called if the provider says that the token is dead. Rejects if the caller must try again. */
  disable(endpoint: PlatformEndpointRecord, application: PlatformApplicationRecord): Promise<void>
  /**
   * Publishes the event about an endpoint that a worker has disabled, if that has not been done yet. Rejects like
   * `disable`.
   */
  publishOwed(endpoint: PlatformEndpointRecord, application: PlatformApplicationRecord): Promise<void>
}

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
