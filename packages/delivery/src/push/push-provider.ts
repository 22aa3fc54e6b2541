/** What the attempter and the clients of providers say to each other. */
import type {
  AttemptResult,
  Message,
  PlatformApplicationRecord,
  PlatformCredential,
  PlatformEndpointRecord,
} from '@fantail/contracts'
import type { ProviderVerdict } from './provider-answers.ts'
import type { Unsendable } from './push-notification.ts'

export interface Push {
  message: Message
  application: PlatformApplicationRecord
  endpoint: PlatformEndpointRecord
  credential: PlatformCredential
  /** Epoch ms. */
  now: number
}

/** `verdict` is set where the provider has answered. */
export interface Pushed {
  result: AttemptResult
  verdict?: ProviderVerdict
  /** The provider's word. */
  reason?: string
}

export interface PushProvider {
  /** Never rejects but for a credential that cannot be used. */
  push(push: Push): Promise<Pushed | Unsendable>
  close?(): void
}

/** The provider takes the application's credential for wrong. */
export class RefusedCredentialError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RefusedCredentialError'
  }
}
