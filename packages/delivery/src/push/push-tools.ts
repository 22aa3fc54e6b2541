/** The records that push attempts read and change. The store has them in Redis (packages/store/src/push). */
import type { PlatformApplicationRecord, PlatformEndpointRecord } from '@fantail/contracts'

export interface PushTools {
  application(arn: string): Promise<PlatformApplicationRecord | null>
  endpoint(arn: string): Promise<PlatformEndpointRecord | null>
  /** Its provider refuses the token. Never rejects. */
  disable(endpoint: PlatformEndpointRecord, application: PlatformApplicationRecord): Promise<void>
}
