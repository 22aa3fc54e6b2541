/** Records about secrets, people and devices for the damage fuzz, and recorded attempts. */
import { hash } from 'node:crypto'
import { type PortalSessionRecord, platformApplicationArn } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { type AttemptRecord, packAttempt } from '../attempts/attempt-record.ts'
import {
  AttemptStore,
  PlatformApplications,
  PlatformEndpoints,
  PortalSessions,
  SandboxNumbers,
  SigningKeys,
  SmsState,
  shardBase,
  shardOf,
  VaultKeys,
} from '../index.ts'
import { ATTEMPTS_BASE, PORTAL_SESSIONS_BASE, SIGNING_BASE, SMS_BASE, VAULT_BASE } from '../keys/keys.ts'
import type { Unit } from './damage-records.fixture.ts'

const PAIR = { privateKey: 'a private key', certificate: 'a certificate' }
const MASTER_KEY = 'abcd1234'
const smsOf = (redis: Redis) => new SmsState(redis, { clock: Date.now, onProblem: expect.fail })

async function makeSigning(redis: Redis): Promise<Unit[]> {
  const keys = new SigningKeys(redis)
  await keys.offer(PAIR)
  const certificates = ['aa', 'bb']
  for (const name of certificates) await keys.publish(name, `certificate ${name}`)
  const pair = async () => expect(await keys.read()).toEqual(PAIR)
  const unitOf = (name: string): Unit => ({
    name: `certificate ${name}`,
    traces: ['bit', 'lost', 'cut'].map((how) => `certificates: ${how} ${name}`),
    base: `${SIGNING_BASE}certificates`,
    goesOn: async () => expect(await keys.certificate(name)).toBe(`certificate ${name}`),
  })
  const traces = [`${SIGNING_BASE}pair`]
  return [{ name: 'pair', traces, base: `${SIGNING_BASE}pair`, goesOn: pair }, ...certificates.map(unitOf)]
}

async function makeDevice(redis: Redis, name: string): Promise<Unit> {
  const [applications, endpoints] = [new PlatformApplications(redis), new PlatformEndpoints(redis)]
  const arn = platformApplicationArn('GCM', name, {
    partition: 'aws',
    account: '000000000000',
    region: 'us-east-1',
  })
  const application = {
    arn,
    platform: 'GCM',
    sealed: 'x',
    attributes: { Enabled: 'true' },
    createdAt: 1,
  } as const
  await applications.create(application)
  const { endpoint } = await endpoints.create(arn, { token: `token of ${name}`, enabled: true, createdAt: 1 })
  const goesOn = async () => {
    expect(await applications.get(arn)).toEqual(application)
    expect((await endpoints.list(arn, { limit: 9 })).items).toEqual([endpoint])
    expect(await endpoints.delete(endpoint.arn)).toBe(true)
    expect(await applications.delete(arn)).toBe(true)
  }
  return { name: arn, traces: [arn], base: shardBase(shardOf(arn)), goesOn }
}

const digestOf = (customer: string) => hash('sha256', customer)
const sessionOf = (customer: string): PortalSessionRecord => ({
  id: customer,
  keyId: 'FKAAAAAAAAAAAAAAAAAA',
  account: '000000000000',
  prefixes: [customer],
  subscriptions: null,
  scopes: ['read'],
  theme: {} as PortalSessionRecord['theme'],
  createdAt: Date.now(),
  endsAt: Date.now() + 60_000,
})

async function makeSession(redis: Redis, customer: string): Promise<Unit> {
  const sessions = new PortalSessions(redis)
  const record = sessionOf(customer)
  await sessions.make(digestOf(customer), record)
  const goesOn = async () => expect(await sessions.get(digestOf(customer))).toEqual(record)
  return { name: customer, traces: [digestOf(customer)], base: `${PORTAL_SESSIONS_BASE}expiry`, goesOn }
}

async function makeNumber(redis: Redis, number: string): Promise<Unit> {
  const [sms, sandbox] = [smsOf(redis), new SandboxNumbers(redis)]
  await sms.optOut(number)
  await sandbox.add(number)
  await sandbox.verify(number)
  const goesOn = async () => {
    expect(await sms.isOptedOut(number)).toBe(true)
    expect((await sms.optedOut({ limit: 9 })).items).toContain(number)
    expect(await sandbox.list()).toContainEqual({ number, status: 'Verified' })
  }
  return { name: number, traces: [number, Buffer.from(number).toString('hex')], base: SMS_BASE, goesOn }
}

async function makeAttempts(redis: Redis, subscription: string): Promise<Unit> {
  const store = new AttemptStore(redis)
  const record: AttemptRecord = {
    messageId: subscription,
    attempt: 1,
    phase: 'first',
    path: 'lane',
    startedAt: 1,
    durationMs: 3,
    decision: 'retry',
  }
  const add = () =>
    store.add({ now: 1, bytesMax: 1_000_000, shares: [{ subscription, records: [packAttempt(record)] }] })
  await add()
  const goesOn = async () => {
    await add()
    expect((await store.read(subscription))[0]).toEqual(record)
  }
  return { name: subscription, traces: [subscription], base: ATTEMPTS_BASE, goesOn }
}

async function makeMasterKey(redis: Redis): Promise<Unit> {
  const keys = new VaultKeys(redis)
  await keys.add(MASTER_KEY)
  const goesOn = async () => expect(await keys.all()).toEqual([MASTER_KEY])
  return { name: MASTER_KEY, traces: [VAULT_BASE], base: VAULT_BASE, goesOn }
}

export async function makeSecrets(redis: Redis): Promise<Unit[]> {
  const made = [...(await makeSigning(redis)), await makeMasterKey(redis)]
  for (const name of ['phones', 'tablets']) made.push(await makeDevice(redis, name))
  for (const customer of ['first', 'second']) made.push(await makeSession(redis, customer))
  for (const number of ['+15550100', '+15550101']) made.push(await makeNumber(redis, number))
  for (const id of ['attempts-a', 'attempts-b']) made.push(await makeAttempts(redis, id))
  return made
}

export const SECRET_LOOKS: ((redis: Redis) => Promise<unknown>)[] = [
  (redis) => new SigningKeys(redis).sweep(() => undefined),
  (redis) => smsOf(redis).optedOut({ limit: 9 }),
  (redis) => new SandboxNumbers(redis).list(),
  (redis) => new PlatformApplications(redis).list({ limit: 9 }),
  (redis) => new AttemptStore(redis).sweep(() => undefined),
  // Services start, whatever the list of master keys holds.
  (redis) => new VaultKeys(redis).all(),
  (redis) => new VaultKeys(redis).add(MASTER_KEY),
  // A changed key signs nothing.
  async (redis) => {
    const pair = await new SigningKeys(redis).read().catch(() => null)
    expect([null, PAIR]).toContainEqual(pair)
  },
  // A changed session has the rights that it had, or none.
  async (redis) => {
    for (const customer of ['first', 'second']) {
      const session = await new PortalSessions(redis).get(digestOf(customer)).catch(() => null)
      expect([undefined, [customer]]).toContainEqual(session?.prefixes)
    }
    for (const { record } of await new PortalSessions(redis).list())
      expect(record.prefixes).toEqual([record.id])
  },
  // A notification goes to the device that was registered, or to none.
  async (redis) => {
    const applications = await new PlatformApplications(redis).list({ limit: 9 })
    for (const { arn } of applications.items) {
      const { items } = await new PlatformEndpoints(redis).list(arn, { limit: 9 })
      for (const { token } of items) expect(token).toBe(`token of ${arn.split('/').at(-1)}`)
    }
  },
]
