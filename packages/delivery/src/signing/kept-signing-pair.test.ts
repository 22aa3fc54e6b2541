import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { beforeEach, expect, test } from 'vitest'
import {
  createSigningPairs,
  type KeptSigningPair,
  type KeptSigningPairs,
  openSigningPair,
  sealSigningPair,
} from './kept-signing-pair.ts'
import { SigningKey } from './signing-key.ts'
import { createSigningPair } from './signing-pair.ts'

const [pair, other] = await Promise.all([createSigningPair(), createSigningPair()])
const key = parseMasterKey(createMasterKeyText())
if (!key) throw new Error('a new key must be readable')
const vault = createVault([key])

let stored: KeptSigningPair | null
const kept: KeptSigningPairs = {
  read: async () => stored,
  offer: async (offered) => (stored ??= offered),
  restore: async (offered) => (stored ??= offered),
  publish: async () => undefined,
}
beforeEach(() => {
  stored = null
})

test('with a master key a new pair is kept sealed, and is the same for all who have it', async () => {
  const told: unknown[] = []
  const pairs = createSigningPairs(kept, { vault, beforeSealing: async () => void told.push(stored) })
  const signers = [new SigningKey({ pairs }), new SigningKey({ pairs })]
  const [first, second] = await Promise.all(signers.map((signer) => signer.load()))
  expect(JSON.stringify(stored)).not.toMatch(/PRIVATE KEY|privateKey/)
  expect(stored).toHaveProperty('sealed')
  expect(told[0]).toBeNull()
  expect(second?.certificatePath).toBe(first?.certificatePath)
})

test('without one it is kept as it is', async () => {
  const pairs = createSigningPairs(kept, { vault: undefined })
  expect(await pairs.offer(pair)).toEqual(pair)
  expect(stored).toEqual(pair)
})

test('a pair in plain text is used as it is, and reported once', async () => {
  let told = 0
  const pairs = createSigningPairs(kept, { vault, onUnsealed: () => told++ })
  stored = pair
  expect([await pairs.read(), await pairs.read(), await pairs.offer(other)]).toEqual([pair, pair, pair])
  expect([told, stored]).toEqual([1, pair])
})

test('a sealed key belongs to its certificate and cannot be put beside another', () => {
  const sealed = sealSigningPair(pair, vault)
  expect(openSigningPair(sealed, vault)).toEqual(pair)
  const moved = { ...sealed, certificate: other.certificate }
  expect(() => openSigningPair(moved, vault)).toThrow('sealed for something else')
  expect(() => openSigningPair(sealed, undefined)).toThrow('FANTAIL_MASTER_KEY')
})

test('a pair that is lost from Redis is put back sealed', async () => {
  const signing = new SigningKey({ pairs: createSigningPairs(kept, { vault }), renewMs: 0 })
  const { certificatePath } = await signing.load()
  stored = null
  await signing.renew()
  expect(stored).toHaveProperty('sealed')
  expect(signing.signer?.certificatePath).toBe(certificatePath)
})
