/**
 * Who may read the metrics of a service without routes. The rule is that of the API's own `/metrics`, because all
 * metrics name topics and subscriptions.
 */
import { bearerOf, keyOf, needScope, needServer } from '@fantail/access'
import { type ApiKeyRecord, FantailError } from '@fantail/contracts'

export interface MetricsAccessSettings {
  /** Whether calls need a key. */
  auth: boolean
  openMetrics: boolean
  /** Whose account is the server's own. */
  arn: { account: string }
}

interface Keys {
  get(id: string): Promise<ApiKeyRecord | null>
}

/** Rejects with `unauthorized`, `forbidden`, or `storage_unavailable` if the key cannot be looked up. */
export type PermitMetrics = (authorization: string | undefined) => Promise<void>

export function createMetricsAccess(settings: MetricsAccessSettings, keys: Keys): PermitMetrics {
  const { auth, openMetrics, arn } = settings
  if (!auth || openMetrics) return () => Promise.resolve()
  return async (authorization) => {
    const key = await bearerOf(authorization, { knownKey: (id) => lookUp(keys, id) })
    needScope(key, ['read'])
    needServer(key, arn.account)
  }
}

async function lookUp(keys: Keys, id: string) {
  const record = await keys.get(id).catch((cause: unknown) => {
    throw new FantailError('storage_unavailable', 'storage does not answer at the moment', { cause })
  })
  if (record?.secretHash === undefined) return undefined
  return { key: keyOf(record), secretHash: Buffer.from(record.secretHash, 'hex') }
}
