import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Signer } from './signer.ts'
import { createMemoryPairs } from './signing.fixture.ts'
import { SigningKey } from './signing-key.ts'
import { certificateName, createSigningPair, readSigningPair } from './signing-pair.ts'

const pair = await createSigningPair(new Date('2026-01-02T00:00:00Z'))

describe('a new pair', () => {
  test('is RSA-2048 with a certificate of ten years, not an authority', () => {
    const certificate = new X509Certificate(pair.certificate)
    expect(certificate.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2_048)
    expect(certificate.subject).toBe('CN=Fantail message signing')
    expect(certificate.ca).toBe(false)
    expect(certificate.validToDate.toISOString()).toBe('2036-01-02T00:00:00.000Z')
    expect(certificate.verify(certificate.publicKey)).toBe(true)
  })
})

describe('the shared pair', () => {
  test('is made by the first that needs it, and the same for all', async () => {
    const pairs = createMemoryPairs()
    const keys = [1, 2, 3].map(() => new SigningKey({ pairs }))
    const signers = await Promise.all(keys.map((key) => key.load()))
    const later = await new SigningKey({ pairs }).load()
    const paths = new Set([...signers, later].map(({ certificatePath }) => certificatePath))
    expect([...paths]).toEqual([
      `/SimpleNotificationService-${certificateName(pairs.pair?.certificate ?? '')}.pem`,
    ])
    expect(new Set(pairs.published)).toEqual(new Set([pairs.pair?.certificate]))
  })

  test('gives way to an operator’s own, whose certificate is published', async () => {
    const pairs = createMemoryPairs(await createSigningPair())
    const signer = await new SigningKey({ pairs, pair }).load()
    expect(signer.certificatePath).toContain(certificateName(pair.certificate))
    expect([pairs.published, pairs.reads]).toEqual([[pair.certificate], 0])
  })

  test('refuses all who wait if it cannot be had, and is tried again after a pause', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] })
    const pairs = createMemoryPairs(pair)
    pairs.error = new Error('no Redis')
    const states: string[] = []
    const key = new SigningKey({ pairs, retryMs: 100, onState: (state) => states.push(state) })
    const asked = await Promise.allSettled([key.load(), key.load(), key.load()])
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect([pairs.reads, key.down, key.signer]).toEqual([1, true, undefined])
    pairs.error = undefined
    const loading = key.load()
    await vi.advanceTimersByTimeAsync(99)
    expect(pairs.reads).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    const signer = await loading
    expect([pairs.reads, key.down, key.signer, states]).toEqual([2, false, signer, ['down', 'up']])
  })

  test('is put back where Redis has lost it, and its certificate with it', async () => {
    const pairs = createMemoryPairs()
    const key = new SigningKey({ pairs, renewMs: 0 })
    await key.load()
    const { pair: made } = pairs
    Object.assign(pairs, { pair: null, published: [] })
    await key.renew()
    expect([pairs.pair, pairs.published]).toEqual([made, [made?.certificate]])
  })

  test('gives way to one that took its place, whose predecessor’s certificate stays', async () => {
    const pairs = createMemoryPairs()
    const key = new SigningKey({ pairs, renewMs: 0 })
    await key.load()
    const before = pairs.pair?.certificate
    Object.assign(pairs, { pair, published: [] })
    await key.renew()
    expect(pairs.published).toEqual([before, pair.certificate])
    expect(key.signer?.certificatePath).toContain(certificateName(pair.certificate))
  })

  test('is looked after once a minute at most, and goes on signing where it cannot be', async () => {
    const pairs = createMemoryPairs(pair)
    const often = new SigningKey({ pairs, renewMs: 0 })
    const signer = await often.load()
    pairs.error = new Error('no Redis')
    await often.renew()
    expect([often.signer, often.down, pairs.reads]).toEqual([signer, false, 2])
    pairs.error = undefined
    const seldom = new SigningKey({ pairs })
    await seldom.load()
    await seldom.renew()
    expect(pairs.reads).toBe(3)
  })

  test('a damaged key is reported without showing it', async () => {
    const damaged = { ...pair, privateKey: pair.privateKey.replaceAll('A', '') }
    const key = new SigningKey({ pairs: createMemoryPairs(damaged) })
    await expect(key.load()).rejects.toThrow('the signing key is not a private key in PEM')
  })
})

describe('a pair of files', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signing-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  async function filesOf(privateKey: string, certificate: string) {
    const files = { key: join(folder, 'key.pem'), certificate: join(folder, 'cert.pem') }
    await Promise.all([writeFile(files.key, privateKey), writeFile(files.certificate, certificate)])
    return files
  }

  test('is read, with whatever stands around the certificate left out', async () => {
    const files = await filesOf(pair.privateKey, `Subject: us\n${pair.certificate}\n`)
    expect(certificateName((await readSigningPair(files)).certificate)).toBe(
      certificateName(pair.certificate),
    )
  })

  test.each([
    ['a key of another pair', { privateKey: rsaKey(2_048) }, 'does not belong'],
    ['a key that is not RSA', { privateKey: ellipticKey() }, 'must be an RSA key'],
    ['a short key', { privateKey: rsaKey(1_024) }, 'at least 2048 bits'],
    ['no key', { privateKey: 'hello' }, 'not a private key'],
    ['no certificate', { certificate: 'hello' }, 'not an X.509 certificate'],
  ])('is refused with %s', async (_, wrong, message) => {
    const { privateKey, certificate } = { ...pair, ...wrong }
    await expect(readSigningPair(await filesOf(privateKey, certificate))).rejects.toThrow(message)
  })
})

describe('a signer', () => {
  test('has so many signatures in the thread pool and keeps the order of the rest', async () => {
    const signer = new Signer(pair, { atOnceMax: 1 })
    const ended: number[] = []
    const all = [0, 1, 2, 3].map(async (i) => {
      await signer.sign(`text ${i}`, '1')
      ended.push(i)
    })
    expect(signer.waiting).toBe(4)
    await Promise.all(all)
    expect([ended, signer.waiting]).toEqual([[0, 1, 2, 3], 0])
  })
})

function rsaKey(bits: number): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function ellipticKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
