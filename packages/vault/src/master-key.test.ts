import { describe, expect, test } from 'vitest'
import {
  createMasterKeyText,
  masterKeyBytes,
  parseMasterKey,
  parseWrappingKey,
  VaultError,
  WrappedKey,
  wrappedKeyText,
} from './master-key.ts'
import { createVault } from './vault.ts'

const ARN = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
const AWS = `awskms:1a2b3c4d:${ARN}:AQICAHhQdXQgdGhlIGtleSBoZXJl+/==`
const VAULT = 'vault:1a2b3c4d:secure/transit/fantail:v12:8SDd3WHDOjf7mq69CyCqYjBXAiQQAVZRkFM='

describe('a master key', () => {
  const bytes = Buffer.from('f'.repeat(64), 'hex')

  test('is the same in hex and either base64', () => {
    const forms = [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')]
    const keys = forms.map(parseMasterKey)
    expect(new Set(keys.map((key) => key?.id)).size).toBe(1)
    expect(keys[0]?.id).toMatch(/^[0-9a-f]{8}$/)
    expect(keys[0]?.secret.export()).not.toEqual(bytes)
  })

  test.each([
    '',
    'secret',
    'f'.repeat(63),
    'f'.repeat(65),
    Buffer.alloc(31).toString('base64'),
    'g'.repeat(64),
    AWS.replace('1a2b3c4d', '1a2b3c4'),
    AWS.replace(':kms:', ':sqs:'),
    AWS.replace(/AQ.*/, 'AQIC'),
    AWS.replace('awskms', 'gcpkms'),
    VAULT.replace('secure/transit/fantail', 'fantail'),
    VAULT.replace('secure/transit', '../sys'),
  ])('is not %j', (text) => {
    expect(parseMasterKey(text)).toBeUndefined()
  })
})

describe('a wrapped master key', () => {
  test.each([
    [AWS, 'awskms', ARN],
    [VAULT, 'vault', 'secure/transit/fantail'],
  ])('%s names its id, its service and the key of that', (text, service, name) => {
    const key = parseMasterKey(text)
    if (!(key instanceof WrappedKey)) throw new Error('it is wrapped')
    expect(key).toMatchObject({ id: '1a2b3c4d', by: { service, name }, isLocked: true })
    expect(wrappedKeyText(key)).toBe(text)
    expect(parseWrappingKey(`${service}:${name}`)).toEqual({ service, name })
  })

  test('throws at every use until it is unlocked, and then is the same as a plain one', () => {
    const text = createMasterKeyText()
    const plain = parseMasterKey(text)
    const bytes = masterKeyBytes(text)
    if (!plain || !bytes) throw new Error('a new key must be readable')
    const key = new WrappedKey(plain.id, { service: 'vault', name: 'transit/fantail' }, 'v1:x')
    const vault = createVault([key])
    const sealed = createVault([plain])
    const body = sealed.bodies.seal('text', 'a')
    const uses = [
      () => vault.seal('text', 'a'),
      () => vault.open(sealed.seal('text', 'a'), 'a'),
      () => vault.nameOf('text'),
      () => vault.bodies.seal('text', 'a'),
      () => vault.bodies.open(body, 'a'),
    ]
    const locked = { name: 'VaultError', code: 'lockedKey', keyId: plain.id }
    for (const use of uses) expect(use).toThrow(expect.objectContaining(locked))
    expect(vault.keyIds).toEqual([plain.id])
    expect(() => key.unlock(Buffer.alloc(32))).toThrow(`not master key ${plain.id}`)
    expect(() => key.unlock(Buffer.alloc(5))).toThrow(`not master key ${plain.id}`)
    expect(uses[0]).toThrow(VaultError)
    key.unlock(bytes)
    expect(vault.bodies.open(body, 'a')).toBe('text')
    expect(sealed.open(vault.seal('text', 'a'), 'a')).toBe('text')
    expect(vault.nameOf('text')).toBe(sealed.nameOf('text'))
  })
})
