import type { ApiKeyRecord } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { KeyCache } from './caller-caches.ts'

const RECORD: ApiKeyRecord = {
  ...{ id: 'FKGOOD', kind: 'native', name: 'x', account: '000000000000', scopes: [], prefixes: [] },
  ...{ maxRequestsPerSecond: null, createdAt: 0, secretHash: 'aa' },
}

test('guesses without end do not drive out a key that is in use', async () => {
  let [asked, now] = [0, 0]
  const get = async (id: string) => {
    if (id === RECORD.id) asked++
    return id === RECORD.id ? RECORD : null
  }
  const keys = new KeyCache({
    keys: { get },
    vault: undefined,
    log: { error: () => undefined },
    now: () => now,
  })
  const guess = async (from: number) => {
    for (let i = from; i < from + 9_000; i++) expect(await keys.knownKey(`FK${i}`)).toBeUndefined()
  }
  expect(await keys.knownKey(RECORD.id)).toBeDefined()
  await guess(0)
  // The key is in use, so it is looked up again while the cached one is returned.
  now = 600
  expect(keys.knownKey(RECORD.id)).toMatchObject({ key: { id: RECORD.id } })
  await Promise.resolve()
  await guess(9_000)
  expect(keys.knownKey(RECORD.id)).toMatchObject({ key: { id: RECORD.id } })
  expect(asked).toBe(2)
})
