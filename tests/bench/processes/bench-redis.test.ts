import { Redis } from 'ioredis'
import { afterAll, expect, test } from 'vitest'
import { settingWords, startBenchRedis, stopEveryRedis } from './bench-redis.ts'

afterAll(() => stopEveryRedis())

test('a redis.conf becomes words, without what says where the server runs', () => {
  const text = '# why\nport 6379\nsave ""\n\nappendfsync always\nclient-output-buffer-limit normal 0 0 0\n'
  const words = [
    '--save',
    '',
    '--appendfsync',
    'always',
    '--client-output-buffer-limit',
    'normal',
    '0',
    '0',
    '0',
  ]
  expect(settingWords(text)).toEqual(words)
})

test('contestants get a Redis with the settings that Fantail ships', async () => {
  const { url } = await startBenchRedis()
  const redis = new Redis(url)
  const names = ['appendonly', 'appendfsync', 'save', 'maxmemory-policy', 'lazyfree-lazy-user-del']
  const got = await Promise.all(names.map((name) => redis.config('GET', name)))
  redis.disconnect()
  expect(got).toEqual([
    ['appendonly', 'yes'],
    ['appendfsync', 'always'],
    ['save', ''],
    ['maxmemory-policy', 'noeviction'],
    ['lazyfree-lazy-user-del', 'yes'],
  ])
})
