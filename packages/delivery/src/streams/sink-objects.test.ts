import { expect, test } from 'vitest'
import { objectLingerMs } from './sink-objects.ts'

test('[367] an object waits for records as long as its URL says', () => {
  const urls = ['file:///logs', 's3://logs/raw?region=eu-west-1&seconds=60', 'file:///logs?seconds=0.2']
  expect(urls.map((url) => objectLingerMs(new URL(url)))).toEqual([1_000, 60_000, 200])
  const odd = ['seconds=1000000', 'seconds=-1', 'seconds=x', 'seconds=']
  expect(odd.map((query) => objectLingerMs(new URL(`file:///logs?${query}`)))).toEqual([
    300_000, 1_000, 1_000, 1_000,
  ])
})
