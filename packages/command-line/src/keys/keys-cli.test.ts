import { type ApiKeyRecord, parseToken } from '@fantail/contracts'
import { createMasterKeyText, createVault, parseMasterKey, type Vault } from '@fantail/vault'
import { beforeEach, expect, test } from 'vitest'
import { runKeysCli, UsageError } from './keys-cli.ts'

let kept: Map<string, ApiKeyRecord>
let printed: string[]
let lines: object[]
let vault: Vault | undefined

beforeEach(() => {
  kept = new Map()
  printed = []
  lines = []
  const key = parseMasterKey(createMasterKeyText())
  vault = key && createVault([key])
})

function run(...args: string[]): Promise<void> {
  const keys = {
    create: async (key: ApiKeyRecord) => void kept.set(key.id, key),
    get: async (id: string) => kept.get(id) ?? null,
    list: async () => ({ items: [...kept.values()], nextCursor: null }),
    revoke: async (id: string) => kept.delete(id),
  }
  const audit = { add: (line: object) => void lines.push({ ...line }) }
  const print = (text: string) => void printed.push(text)
  const beforeSealing = async () => undefined
  return runKeysCli(
    { keys, vault, beforeSealing, account: '000000000000', audit, print, clock: () => 7 },
    args,
  )
}

test('makes a key, prints its token once and logs it without the secret', async () => {
  await run(
    'create',
    '--name',
    'shop',
    '--scope',
    'publish',
    '--scope',
    'read',
    '--prefix',
    'orders',
    '--limit',
    '50',
  )
  const [record] = kept.values()
  expect(record).toMatchObject({
    kind: 'native',
    name: 'shop',
    account: '000000000000',
    scopes: ['publish', 'read'],
    prefixes: ['orders'],
    maxRequestsPerSecond: 50,
    createdAt: 7,
  })
  const token = /Bearer (\S+)/.exec(printed[0] ?? '')?.[1] ?? ''
  expect(parseToken(token)?.id).toBe(record?.id)
  expect(JSON.stringify(record)).not.toContain(parseToken(token)?.secret)
  expect(lines).toMatchObject([{ keyId: 'command line', resource: { id: record?.id } }])
})

test('--quiet prints the token alone, --aws makes an access key', async () => {
  await run('create', '--name', 'x', '--scope', 'manage', '--quiet')
  await run('create', '--name', 'y', '--scope', 'manage', '--aws', '--account', '222222222222', '--quiet')
  const [native, aws] = kept.values()
  expect(printed[0]).toMatch(/^ft_FK\S+$/)
  expect(printed[1]).toMatch(new RegExp(`^${aws?.id}:\\S{40}$`))
  expect(vault?.open(aws?.sealedSecret ?? '', `api key ${aws?.id}`)).toBe(printed[1]?.split(':')[1])
  expect([native?.kind, aws?.kind, aws?.account]).toEqual(['native', 'aws', '222222222222'])
})

test('--json prints objects of the API, and the token only when the key is made', async () => {
  await run('create', '--name', 'x', '--scope', 'manage', '--json')
  await run('create', '--name', 'y', '--scope', 'manage', '--aws', '--quiet', '--json')
  await run('list', '--json')
  const [native, aws, ...listed] = printed.map((line) => JSON.parse(line))
  const ids = [...kept.keys()]
  expect(parseToken(native.token)?.id).toBe(ids[0])
  expect(aws).toMatchObject({ accessKeyId: ids[1], secretAccessKey: expect.stringMatching(/^\S{40}$/) })
  const { token: _, ...first } = native
  const { accessKeyId: __, secretAccessKey: ___, ...second } = aws
  expect(listed).toEqual([first, second])
  const shown = { scopes: ['manage'], prefixes: [], maxRequestsPerSecond: null, limitedBy: [] }
  const made = { account: '000000000000', createdAt: '1970-01-01T00:00:00.007Z', ...shown }
  expect(first).toEqual({ id: ids[0], kind: 'native', name: 'x', ...made })
  await run('revoke', ids[0] ?? '', '--json')
  expect(printed.at(-1)).toBe(JSON.stringify({ deleted: ids[0] }))
})

test('lists keys and revokes them', async () => {
  await run('create', '--name', 'shop', '--scope', 'publish', '--quiet')
  const [id = ''] = kept.keys()
  await run('list')
  expect(printed[1]).toContain(`${id}  native  000000000000  publish  *  -  1970-01-01T00:00:00.007Z  shop`)
  await run('revoke', id)
  expect([kept.size, printed[2]]).toEqual([0, `key ${id} is revoked`])
  await expect(run('revoke', id)).rejects.toThrow(`key ${id} does not exist`)
})

test.each([
  [[], 'usage: fantail keys create'],
  [['make'], 'usage: '],
  [['create', '--scope', 'read'], '--name'],
  [['create', '--name', 'x'], '--scope'],
  [['create', '--name', 'x', '--scope', 'all'], '--scope'],
  [['create', '--name', 'x', '--scope', 'read', '--limit', 'many'], '--limit'],
  [['create', '--name', 'x', '--scope', 'read', '--account', '12'], '--account must be 12 digits'],
  [['create', '--name', 'x', '--scope', 'read', '--prefix', 'a b'], '--prefix'],
  [['create', '--nam', 'x'], "Unknown option '--nam'"],
  [['revoke'], 'usage: '],
])('%j is refused with what is wrong', async (args, text) => {
  const refusal = await run(...args).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(UsageError)
  expect(String(refusal)).toContain(text)
  expect(kept.size).toBe(0)
})

test('without a master key no access key is made', async () => {
  vault = undefined
  await expect(run('create', '--name', 'x', '--scope', 'read', '--aws')).rejects.toThrow('FANTAIL_MASTER_KEY')
  expect(kept.size).toBe(0)
})
