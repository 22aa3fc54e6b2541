/** The key that signs messages: the operator's own pair, or the one that Redis stores. */
import { createSigningPairs, EnvelopeSigning, SigningKey, type SigningPair } from '@fantail/delivery'
import { createStateLog, type Logger } from '@fantail/runtime'
import { type Redis, SigningKeys, VaultKeys } from '@fantail/store'
import type { Vault } from '@fantail/vault'

interface SigningOptions {
  /** An operator's own pair. Absent: the one that Redis stores. */
  signingPair?: SigningPair | undefined
  /** Seals the pair that Redis stores. */
  vault?: Vault | undefined
  log: Logger
}

export function createSigning(redis: Redis, options: SigningOptions): EnvelopeSigning {
  const { signingPair: pair, vault, log } = options
  const onState = createStateLog({ log, what: 'signing', initial: 'up' })
  const onUnsealed = () => log.warn({ command: 'fantail secrets reseal' }, 'signing.unsealed')
  const beforeSealing = async () => vault && new VaultKeys(redis).add(vault.keyId)
  const pairs = createSigningPairs(new SigningKeys(redis), { vault, beforeSealing, onUnsealed })
  return new EnvelopeSigning(new SigningKey({ pairs, pair, onState }))
}
