import type { ApiSettings } from '@fantail/config'
import type { RedisTarget } from '@fantail/contracts'
import type { SigningPair } from '@fantail/delivery'
import type { AuditFile, Build, Logger } from '@fantail/runtime'
import type { Telemetry } from '@fantail/telemetry'
import type { Vault } from '@fantail/vault'

export interface PublishApiOptions {
  settings: ApiSettings
  redisUrl: RedisTarget
  log: Logger
  telemetry: Omit<Telemetry, 'logs'>
  build: Build
  /** An operator's own signing pair. Absent: the one that Redis stores. */
  signingPair?: SigningPair | undefined
  /** Where audit lines go. Absent: to the log. */
  auditFile?: AuditFile | undefined
  /** Seals secrets. Absent: requests with secrets are refused. */
  vault?: Vault | undefined
}

/** The base of links, where no request says it. */
export function publicUrlOf({ publicUrl, host, port }: ApiSettings): string {
  return publicUrl ?? `http://${host}:${port}`
}
