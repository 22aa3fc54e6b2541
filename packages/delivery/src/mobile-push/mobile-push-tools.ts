/** Reads and changes the records that push attempts need. They are stored in Redis (packages/store/src/push). */
import type { PlatformApplicationRecord, PlatformEndpointRecord } from '@fantail/contracts'

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
