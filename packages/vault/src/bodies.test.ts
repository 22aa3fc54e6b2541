import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sealingKeyOf } from './bodies.ts'
import { createMasterKeyText, type MasterKey, parseMasterKey, VaultError } from './master-key.ts'
import { createVault } from './vault.ts'

const FLIPS = 10_000

function newKey(): MasterKey {
  const key = parseMasterKey(createMasterKeyText())
  if (!key) throw new Error('a new key must be readable')
  return key
}

const [old, fresh] = [newKey(), newKey()]
const { bodies } = createVault([old])

test('a sealed text opens to the same text, in its own context only', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
      const sealed = bodies.seal(text, context)
      expect(bodies.open(sealed, context)).toBe(text)
      expect(bodies.open(sealed, `${context}.`)).toBeUndefined()
    }),
  )
})

test('a sealed text differs each time and shows nothing', () => {
  const sealed = bodies.seal('correct horse', 'a')
  expect(bodies.seal('correct horse', 'a')).not.toBe(sealed)
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('horse')
})

test('no text with a flipped bit opens, as bytes or as it is stored', () => {
  const sealed = bodies.seal('x'.repeat(200), 'a')
  let opened = 0
  for (let flip = 0; flip < FLIPS; flip++) {
    const isStored = flip % 2 === 0
    const bytes = Buffer.from(sealed, isStored ? 'latin1' : 'base64')
    const at = randomInt(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << randomInt(8))
    const changed = bytes.toString(isStored ? 'latin1' : 'base64')
    if (tryOpen(changed) !== undefined) opened++
  }
  expect(opened).toBe(0)
})

/** Undefined: it did not open, or it names a key that nobody has. */
function tryOpen(sealed: string): string | undefined {
  try {
    return bodies.open(sealed, 'a')
  } catch (error) {
    expect(error).toBeInstanceOf(VaultError)
    return undefined
  }
}

test('the first characters of a sealed text name its key', () => {
  expect(sealingKeyOf(bodies.seal('x', 'a').slice(0, 8))).toBe(old.id)
  expect(sealingKeyOf('v1.00000')).toBeUndefined()
})

test.each(['', 'plain text', Buffer.alloc(60).toString('base64')])('%j is not a sealed text', (text) => {
  expect(bodies.open(text, 'a')).toBeUndefined()
})

test('[409] after a change of the master key both keys open, and the first one seals', () => {
  const both = createVault([fresh, old]).bodies
  const alone = createVault([fresh]).bodies
  const sealed = bodies.seal('x', 'a')
  expect(both.open(sealed, 'a')).toBe('x')
  expect(alone.open(both.seal('y', 'a'), 'a')).toBe('y')
  expect(() => alone.open(sealed, 'a')).toThrow(`sealed with key ${old.id}, which is not among ${fresh.id}`)
})
