import { resealAll } from '@fantail/command-line'
import {
  createSigningPair,
  createSigningPairs,
  openOutbound,
  openPlatformCredential,
  openPushConsumer,
  webhookSignerOf,
} from '@fantail/delivery'
import {
  keyHolderName,
  MasterKeyError,
  refuseMissingKey,
  SigningKeys,
  signingPairKey,
  VaultKeys,
  whenReady,
} from '@fantail/store'
import { appleCredential } from '@fantail/test-kit'
import { createMasterKeyText, createVault, type MasterKey, parseMasterKey } from '@fantail/vault'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'

let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
})

afterAll(() => api.stop())

function newKey(): MasterKey {
  const key = parseMasterKey(createMasterKeyText())
  if (!key) throw new Error('a new key must be readable')
  return key
}

const [old, fresh] = [newKey(), newKey()]
const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:jobs'

/** Hiding credentials takes long, so only a few URLs have some. All have another secret. */
const urlOf = (n: number) => (n % 20 === 0 ? `https://u:p${n}@h.example/${n}` : `https://h.example/${n}`)

async function subscribe(n: number) {
  const outbound = { headers: { 'X-Key': `secret-${n}` } }
  const { body } = await api.call('POST', '/v1/topics/orders/subscriptions', {
    body: { endpoint: urlOf(n), outbound },
  })
  return body.id as string
}

const refuseMissing = (keyId: string) => refuseMissingKey(api.redis, keyId)

function deps(...keys: [MasterKey, ...MasterKey[]]) {
  const { subscriptions, pushConsumers, keys: apiKeys, platformApplications: applications } = api.deps
  const vaultKeys = new VaultKeys(api.redis)
  const all = { subscriptions, pushConsumers, keys: apiKeys, applications } as never as Parameters<
    typeof resealAll
  >[0]
  return { ...all, signing: new SigningKeys(api.redis), vaultKeys, vault: createVault(keys), refuseMissing }
}

test('everything sealed is sealed again, once, and opens with the new key alone', async () => {
  await api.call('PUT', '/v1/topics/orders')
  await api.call('PUT', '/v1/queues/jobs')
  api.deps.vault = createVault([old])
  const ids = await Promise.all(Array.from({ length: 130 }, (_, n) => subscribe(n)))
  await api.deps.subscriptions.update(ids[7] ?? '', () => ({ unsubscribed: true }))
  await api.call('PUT', '/v1/queues/jobs/consumers/hook', { body: { url: 'https://u:p@h.example/' } })
  const aws = { name: 'k', scopes: ['manage'], kind: 'aws' }
  const { body: key } = await api.call('POST', '/v1/keys', { body: aws })
  const vaultKeys = new VaultKeys(api.redis)
  await vaultKeys.add(old.id)
  await expect(vaultKeys.check([fresh.id])).rejects.toThrow(MasterKeyError)
  await expect(vaultKeys.check([fresh.id, old.id])).resolves.toBeUndefined()

  expect(await resealAll(deps(fresh))).toMatchObject({ found: 132, resealed: 0, failed: { length: 132 } })
  // A wrong key leaves nothing in Redis that would keep services with the right key from starting.
  expect(await vaultKeys.all()).toEqual([old.id])

  expect(await resealAll(deps(fresh, old))).toEqual({ found: 132, resealed: 132, failed: [] })
  expect(await resealAll(deps(fresh, old))).toEqual({ found: 132, resealed: 0, failed: [] })
  expect(await vaultKeys.all()).toEqual([fresh.id])
  await expect(vaultKeys.check([old.id])).rejects.toThrow(`master key ${fresh.id}`)

  const alone = createVault([fresh])
  for (const [n, id] of ids.entries()) {
    const record = await api.deps.subscriptions.get(id)
    expect(record && openOutbound(record, alone)).toMatchObject({
      url: urlOf(n),
      headers: { 'X-Key': `secret-${n}` },
    })
  }
  const hook = await api.deps.pushConsumers.get(QUEUE, 'hook')
  expect(hook && openPushConsumer(hook.consumer, alone)).toEqual({ url: 'https://u:p@h.example/' })
  const kept = await api.deps.keys.get(key.accessKeyId ?? key.id)
  expect(kept?.sealedSecret).toContain(`v1.${fresh.id}.`)
})

test('keys that sign for webhooks are sealed again, too, each in its place', async () => {
  api.deps.vault = createVault([old])
  const id = await subscribe(600)
  for (let i = 0; i < 2; i++) await api.call('POST', `/v1/subscriptions/${id}/webhook-keys`)
  const before = await api.deps.subscriptions.get(id)
  expect(await resealAll(deps(fresh, old))).toMatchObject({ resealed: 3, failed: [] })
  const after = await api.deps.subscriptions.get(id)
  expect(after?.webhookKeys?.map((key) => key.id)).toEqual(before?.webhookKeys?.map((key) => key.id))
  const request = { messageId: 'm', now: Date.now(), body: 'x' }
  const headers = (record: typeof after, key: MasterKey) =>
    record && webhookSignerOf(record)?.headers(request, createVault([key]))
  expect(headers(after, fresh)).toEqual(headers(before, old))
})

test('credentials of platform applications are sealed again', async () => {
  api.deps.vault = createVault([old])
  const { PlatformPrincipal, PlatformCredential, ApplePlatformTeamID, ApplePlatformBundleID } =
    appleCredential()
  const body = {
    principal: PlatformPrincipal,
    credential: PlatformCredential,
    teamId: ApplePlatformTeamID,
    bundleId: ApplePlatformBundleID,
  }
  const { body: made } = await api.call('PUT', '/v1/platform-applications/APNS/shop', { body })
  expect(await resealAll(deps(fresh, old))).toMatchObject({ resealed: 1, failed: [] })
  const application = await api.deps.platformApplications.get(made.arn)
  expect(application && openPlatformCredential(application, createVault([fresh]))).toEqual(body)
})

test('a concurrent change is not overwritten', async () => {
  api.deps.vault = createVault([old])
  const id = await subscribe(500)
  const all = deps(fresh, old)
  api.deps.vault = createVault([fresh, old])
  const subscriptions = {
    list: all.subscriptions.list.bind(all.subscriptions),
    update: async (...args: Parameters<typeof all.subscriptions.update>) => {
      if (args[0] === id)
        await api.call('PATCH', `/v1/subscriptions/${id}`, {
          body: { outbound: { headers: { 'X-Key': 'newer' } } },
        })
      return all.subscriptions.update(...args)
    },
  }
  expect(await resealAll({ ...all, subscriptions })).toMatchObject({ failed: [] })
  const record = await api.deps.subscriptions.get(id)
  expect(record && openOutbound(record, createVault([fresh]))).toMatchObject({
    headers: { 'X-Key': 'newer' },
  })
})

test('a signing key that stood in the open is sealed, and stays the same key', async () => {
  const signing = new SigningKeys(api.redis)
  const pair = await createSigningPair()
  await createSigningPairs(signing, { vault: undefined }).offer(pair)
  const kept = () => api.redis.get(signingPairKey())
  expect(await kept()).toContain('PRIVATE KEY')
  const readWith = (...keys: [MasterKey, ...MasterKey[]]) => {
    let unsealed = 0
    const vault = createVault(keys)
    const pairs = createSigningPairs(signing, { vault, onUnsealed: () => unsealed++ })
    return pairs.read().then(async (read) => ({ read, again: await pairs.read(), unsealed }))
  }
  expect(await readWith(old)).toEqual({ read: pair, again: pair, unsealed: 1 })

  const found = await resealAll(deps(old))
  expect(found.failed.filter(({ what }) => what === 'signing key')).toEqual([])
  expect(await kept()).not.toMatch(/PRIVATE KEY|privateKey/)
  expect(await kept()).toContain(`v1.${old.id}.`)
  expect(await readWith(old)).toEqual({ read: pair, again: pair, unsealed: 0 })
  await expect(readWith(fresh)).rejects.toThrow(`sealed with key ${old.id}`)
  await expect(createSigningPairs(signing, { vault: undefined }).read()).rejects.toThrow('FANTAIL_MASTER_KEY')

  expect((await resealAll(deps(fresh, old))).failed).toEqual([])
  expect(await kept()).toContain(`v1.${fresh.id}.`)
  expect((await readWith(fresh)).read).toEqual(pair)
  const before = await kept()
  await resealAll(deps(fresh, old))
  expect(await kept()).toBe(before)

  await api.redis.setrange(signingPairKey(), 20, '~')
  const why = 'unreadable JSON in ft:{signing}:pair'
  expect((await resealAll(deps(fresh, old))).failed).toEqual([{ what: 'signing key', why }])
  await api.redis.del(signingPairKey())
})

test('nothing is sealed with a key that a running service lacks, wherever it starts meanwhile', async () => {
  api.deps.vault = createVault([old])
  const id = await subscribe(700)
  const sealed = async () => (await api.deps.subscriptions.get(id))?.sealed
  const before = await sealed()
  const run = async (name: string) => {
    const service = api.redis.duplicate({ connectionName: name })
    await whenReady(service)
    return service
  }
  const both = await run(keyHolderName('api', [old.id, fresh.id]))
  for (const [name, why] of [
    [keyHolderName('worker', [old.id]), `has ${old.id}`],
    [keyHolderName('worker'), 'has none'],
    ['fantail-worker', 'is of a release that does not say'],
  ] as const) {
    const service = await run(name)
    const resealing = resealAll(deps(fresh, old))
    await expect(resealing).rejects.toThrow(`do not have master key ${fresh.id} (worker at 127.0.0.1:`)
    await expect(resealing).rejects.toThrow(why)
    await service.quit()
  }
  let late: Awaited<ReturnType<typeof run>> | undefined
  const all = deps(fresh, old)
  const vaultKeys = new VaultKeys(api.redis)
  const add = async (keyId: string) => {
    late ??= await run(keyHolderName('worker', [old.id]))
    await vaultKeys.add(keyId)
  }
  const racing = { add, keepOnly: vaultKeys.keepOnly.bind(vaultKeys) }
  await expect(resealAll({ ...all, vaultKeys: racing })).rejects.toThrow(`has ${old.id}`)
  expect(await sealed()).toBe(before)
  await late?.quit()

  expect(await resealAll(deps(fresh, old))).toMatchObject({ failed: [] })
  expect(await sealed()).toContain(`v1.${fresh.id}.`)
  both.disconnect()
})
