import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { connect, SigningKeys, signingPairKey, UnreadableRecordError } from '../index.ts'
import { signingCertificatesKey } from '../keys/keys.ts'
import { sumText } from '../records/checksums.ts'

const { redis } = await useRedis({ connect })
const keys = new SigningKeys(redis)
beforeEach(() => redis.flushall())

const pairOf = (name: string) => ({ privateKey: `key ${name}`, certificate: `certificate ${name}` })

test('the first offered pair stays, for other offers and for readers', async () => {
  expect(await keys.read()).toBeNull()
  const offers = await Promise.all(['a', 'b', 'c'].map((name) => keys.offer(pairOf(name))))
  expect(offers).toEqual([pairOf('a'), pairOf('a'), pairOf('a')])
  expect(await keys.read()).toEqual(pairOf('a'))
})

test('a certificate stays when its pair is replaced', async () => {
  await keys.offer(pairOf('a'))
  await keys.publish('aa', 'certificate a')
  await redis.del(signingPairKey())
  await keys.offer(pairOf('b'))
  await keys.publish('bb', 'certificate b')
  expect(await keys.read()).toEqual(pairOf('b'))
  expect(await Promise.all(['aa', 'bb', 'cc'].map((name) => keys.certificate(name)))).toEqual([
    'certificate a',
    'certificate b',
    null,
  ])
})

test('a pair is replaced only where it is the one that was read, and its key may stand sealed', async () => {
  await keys.offer(pairOf('a'))
  const sealed = { sealed: 'v1.x.y', certificate: 'certificate a' }
  expect(await keys.replace(pairOf('b'), sealed)).toBe(false)
  expect(await keys.replace(pairOf('a'), sealed)).toBe(true)
  expect(await keys.read()).toEqual(sealed)
  expect(await keys.replace(pairOf('a'), pairOf('b'))).toBe(false)
  expect(await keys.offer(pairOf('b'))).toEqual(sealed)
  await redis.del(signingPairKey())
  expect(await keys.replace(sealed, pairOf('b'))).toBe(false)
})

test('a pair is kept while memory is full', async () => {
  await redis.config('SET', 'maxmemory', '1')
  try {
    await expect(redis.set('x', 'y')).rejects.toThrow('OOM')
    expect(await keys.offer(pairOf('a'))).toEqual(pairOf('a'))
    await keys.publish('aa', 'certificate a')
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
  expect(await keys.certificate('aa')).toBe('certificate a')
})

test('an invalid pair is refused and reported without showing it', async () => {
  const invalid = ['secret', '{"privateKey":"secret"}', '{"sealed":"secret"}', '"secret"']
  for (const text of [...invalid, ...invalid.map((one) => sumText(one))]) {
    await redis.set(signingPairKey(), text)
    const refused = keys.read()
    await expect(refused).rejects.toThrow('unreadable JSON in ft:{signing}:pair')
    await expect(refused).rejects.toMatchObject({ text: '' })
    await keys.sweep((error, key) => {
      expect([key, String(error.cause)]).toEqual([signingPairKey(), expect.not.stringContaining('secret')])
    })
  }
})

test.each(['A', Buffer.from([0xc1])])(
  'a changed pair is used no more, until a process that has loaded it stores it again',
  async (changed) => {
    await keys.offer(pairOf('a'))
    await redis.setrange(signingPairKey(), 20, changed)
    await expect(keys.read()).rejects.toThrow(UnreadableRecordError)
    await expect(keys.offer(pairOf('b'))).rejects.toThrow(UnreadableRecordError)
    expect(await keys.restore(pairOf('a'))).toEqual(pairOf('a'))
    expect(await keys.restore(pairOf('b'))).toEqual(pairOf('a'))
    await redis.del(signingPairKey())
    expect(await keys.restore(pairOf('b'))).toEqual(pairOf('b'))
  },
)

test('a changed certificate is not given out, and hides no other', async () => {
  for (const name of ['aa', 'bb']) await keys.publish(name, `certificate ${name}`)
  const stored = (await redis.hget(signingCertificatesKey(), 'aa')) ?? ''
  await redis.hset(signingCertificatesKey(), 'aa', stored.replace('cert', 'dert'))
  await expect(keys.certificate('aa')).rejects.toThrow(UnreadableRecordError)
  expect(await keys.certificate('bb')).toBe('certificate bb')
  const reported: string[] = []
  await keys.sweep((_, key) => void reported.push(key))
  expect(reported).toEqual([`${signingCertificatesKey()} aa`])
  await redis.set(signingPairKey(), 'x')
  await redis.del(signingCertificatesKey())
  await redis.set(signingCertificatesKey(), 'x')
  await keys.sweep((_, key) => void reported.push(key))
  expect(reported.slice(1)).toEqual([signingPairKey(), signingCertificatesKey()])
})
