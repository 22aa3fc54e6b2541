/**
 * Stores and reads the key pair with which all processes sign. With a master key the private key is sealed. It can be
 * opened only for its own certificate. Without a master key it is stored in plain text. A pair in plain text can still
 * be read after a master key was set. It stays as it is until the operator runs `fantail secrets reseal`. No process
 * seals it by itself, because processes without the key, which cannot open sealed pairs, may still run.
 */
import { NoVaultError, type Sealing } from '../outbound/outbound-secrets.ts'
import type { SigningPairs } from './signing-key.ts'
import { certificateName, type SigningPair } from './signing-pair.ts'

/** PEM texts. `sealed` is a sealed text. */
export type KeptSigningPair = SigningPair | { sealed: string; certificate: string }

/** The place where the pair is stored. */
export interface KeptSigningPairs {
  read(): Promise<KeptSigningPair | null>
  /** Stores the pair if none is stored. Returns the stored one. */
  offer(pair: KeptSigningPair): Promise<KeptSigningPair>
  /** Stores the pair if none is stored, or none that can be read. Returns the stored one. */
  restore(pair: KeptSigningPair): Promise<KeptSigningPair>
  publish(name: string, certificate: string): Promise<void>
}

interface SealedPairsOptions {
  /** undefined: nothing is sealed, and a sealed key cannot be opened. */
  vault: Sealing | undefined
  /** Called before a key is sealed. Rejects if sealing is not allowed. */
  beforeSealing?: () => Promise<void>
  /** Called once if the key is in plain text although it could be sealed. */
  onUnsealed?: () => void
}

/** Wraps the storage. The signer reads and writes pairs in plain text, and the storage holds sealed pairs. */
export function createSigningPairs(
  kept: KeptSigningPairs,
  { vault, beforeSealing, onUnsealed = () => undefined }: SealedPairsOptions,
): SigningPairs {
  let told = false
  const open = (pair: KeptSigningPair): SigningPair => {
    if (vault && !told && !('sealed' in pair)) {
      told = true
      onUnsealed()
    }
    return openSigningPair(pair, vault)
  }
  const sealed = async (pair: SigningPair): Promise<KeptSigningPair> => {
    if (!vault) return pair
    await beforeSealing?.()
    return sealSigningPair(pair, vault)
  }
  return {
    read: async () => {
      const pair = await kept.read()
      return pair && open(pair)
    },
    offer: async (pair) => open(await kept.offer(await sealed(pair))),
    restore: async (pair) => open(await kept.restore(await sealed(pair))),
    publish: (name, certificate) => kept.publish(name, certificate),
  }
}

/** The seal's context of a signing key. Throws if `certificate` is no certificate. */
export function signingKeyContext({ certificate }: Pick<SigningPair, 'certificate'>): string {
  return `signing key of ${certificateName(certificate)}`
}

export function sealSigningPair(pair: SigningPair, vault: Pick<Sealing, 'seal'>): KeptSigningPair {
  const { privateKey, certificate } = pair
  return { sealed: vault.seal(privateKey, signingKeyContext(pair)), certificate }
}

/** Throws the vault's error, or a NoVaultError. */
export function openSigningPair(
  pair: KeptSigningPair,
  vault: Pick<Sealing, 'open'> | undefined,
): SigningPair {
  if (!('sealed' in pair)) return pair
  if (!vault) throw new NoVaultError('open the signing key')
  return { privateKey: vault.open(pair.sealed, signingKeyContext(pair)), certificate: pair.certificate }
}
