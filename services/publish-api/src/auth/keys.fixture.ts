/** Keys of a tested API, and calls with them. */
import { makeKey, type NewKey } from '@fantail/access'
import type { KeyScope } from '@fantail/contracts'
import type { Called, CallOptions, TestApi } from '../fixtures/test-api.fixture.ts'

export interface TestKey {
  id: string
  /** The authorization header of the key. */
  authorization: string
  call(method: string, path: string, options?: CallOptions): Promise<Called>
  /** Makes a call and returns only its status. */
  status(method: string, path: string, body?: unknown): Promise<number>
}

/** A native key as the command line makes it, with any scopes and account. */
export async function keyWith(
  api: TestApi,
  scopes: KeyScope[],
  { account = '000000000000', prefixes = [], maxRequestsPerSecond = null }: Partial<NewKey> = {},
): Promise<TestKey> {
  const wanted: NewKey = { name: 'test', kind: 'native', scopes, prefixes, account, maxRequestsPerSecond }
  const { record, shown } = makeKey(wanted, { vault: undefined, now: 1 })
  await api.deps.keys.create(record)
  return bearer(api, record.id, 'token' in shown ? shown.token : '')
}

export function bearer(api: TestApi, id: string, token: string): TestKey {
  const authorization = `Bearer ${token}`
  const call: TestKey['call'] = (method, path, { headers, ...options } = {}) =>
    api.call(method, path, { ...options, headers: { Authorization: authorization, ...headers } })
  const status: TestKey['status'] = async (method, path, body) =>
    (await call(method, path, body === undefined ? {} : { body })).status
  return { id, authorization, call, status }
}
