import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMasterKeyText, type MasterKey, parseMasterKey, VaultError } from './master-key.ts'
import { createVault } from './vault.ts'

function newKey(): MasterKey {
  const key = parseMasterKey(createMasterKeyText())
  if (!key) throw new Error('a new key must be readable')
  return key
}

function codeOf(run: () => unknown): string {
  try {
    run()
    return 'none'
  } catch (error) {
    return error instanceof VaultError ? error.code : String(error)
  }
}

const [old, fresh] = [newKey(), newKey()]
const vault = createVault([old])

describe('a sealed text', () => {
  test('opens to the sealed text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        expect(vault.open(vault.seal(text, context), context)).toBe(text)
      }),
    )
  })

  test('differs each time and shows nothing', () => {
    const sealed = vault.seal('correct horse', 'a')
    expect(vault.seal('correct horse', 'a')).not.toBe(sealed)
    expect(sealed).toMatch(new RegExp(`^v1\\.${old.id}\\.[\\w-]+$`))
    expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('horse')
  })

  test('opens in its own context only', () => {
    expect(codeOf(() => vault.open(vault.seal('x', 'subscription a'), 'subscription b'))).toBe('damaged')
  })

  test('with any bit changed does not open', () => {
    const sealed = vault.seal('secret', 'a')
    const [, id = '', text = ''] = sealed.split('.')
    const box = Buffer.from(text, 'base64url')
    for (let bit = 0; bit < box.length * 8; bit++) {
      const changed = Buffer.from(box)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(codeOf(() => vault.open(`v1.${id}.${changed.toString('base64url')}`, 'a'))).toBe('damaged')
    }
  })

  test.each([
    '',
    'v1',
    'v2.00000000.AAAA',
    'plain text',
    'v1.0000000g.AAAA',
    `v1.${old.id}.AAAA`,
    `v1.${old.id}.`,
  ])('cannot be %j', (text) => {
    expect(codeOf(() => vault.open(text, 'a'))).toBe('damaged')
    expect(codeOf(() => vault.reseal(text, 'a'))).toBe('damaged')
  })
})

describe('rotation', () => {
  const both = createVault([fresh, old])

  test('opens what either key sealed and seals with the first', () => {
    expect(both.open(vault.seal('x', 'a'), 'a')).toBe('x')
    expect(both.seal('x', 'a')).toContain(`.${fresh.id}.`)
    expect(both).toMatchObject({ keyId: fresh.id, keyIds: [fresh.id, old.id] })
  })

  test('seals again what the old key sealed, once', () => {
    const resealed = both.reseal(vault.seal('x', 'a'), 'a') ?? ''
    expect(createVault([fresh]).open(resealed, 'a')).toBe('x')
    expect(both.reseal(resealed, 'a')).toBeUndefined()
    expect(codeOf(() => both.reseal(vault.seal('x', 'a'), 'b'))).toBe('damaged')
  })

  test('a text of a key that is not there names it', () => {
    const alone = createVault([fresh])
    const sealed = vault.seal('x', 'a')
    expect(codeOf(() => alone.open(sealed, 'a'))).toBe('unknownKey')
    expect(() => alone.open(sealed, 'a')).toThrow(`sealed with key ${old.id}, which is not among ${fresh.id}`)
  })
})
