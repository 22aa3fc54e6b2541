/** The interface between the push attempter and the clients of the push providers. */
import type {
  AttemptResult,
  Message,
  PlatformApplicationRecord,
  PlatformCredential,
  PlatformEndpointRecord,
} from '@fantail/contracts'
import type { Unsendable } from './mobile-notification.ts'
import type { ProviderClass } from './provider-answers.ts'

export interface Push {
  message: Message
  application: PlatformApplicationRecord
  endpoint: PlatformEndpointRecord
  credential: PlatformCredential
  /** Epoch ms. */
  now: number
  /** Aborted at the attempt's deadline. The client then no longer waits for the provider's answer. */
  signal: AbortSignal
}

/** `resultClass` is set if the provider has answered. */
export interface Pushed {
  result: AttemptResult
  resultClass?: ProviderClass
  /** The provider's error code, such as `UNREGISTERED`. */
  reason?: string
}

export interface MobilePushProvider {
  /** Rejects only if the credential cannot be used. */
  push(push: Push): Promise<Pushed | Unsendable>
  close?(): void
}

/** The provider has refused the application's credential. */
export class RefusedCredentialError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RefusedCredentialError'
  }
}
