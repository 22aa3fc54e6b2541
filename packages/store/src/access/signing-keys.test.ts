import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { connect, SigningKeys, signingPairKey } from '../index.ts'

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

test('an invalid pair is refused without showing it', async () => {
  for (const text of ['secret', '{"privateKey":"secret"}', '{"sealed":"secret"}', '"secret"']) {
    await redis.set(signingPairKey(), text)
    await expect(keys.read()).rejects.toThrow(/^what ft:\{signing\}:pair holds is not a pair/)
  }
})
