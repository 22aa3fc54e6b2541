/** Master keys that AWS KMS and Vault have wrapped. Stand-ins for both check what they are sent. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import {
  createMasterKeyText,
  createVault,
  masterKeyBytes,
  parseMasterKey,
  parseWrappingKey,
  WrappedKey,
  type WrappingKey,
} from '@fantail/vault'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogger } from '../loops/logger.ts'
import type { KeyServiceSettings } from './key-service.ts'
import { wrapKey } from './key-services.ts'
import { openVault } from './open-vault.ts'
import { createVaultTransit } from './vault-transit.ts'

const ARN = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd'
const TEXT = createMasterKeyText()
const BYTES = masterKeyBytes(TEXT) ?? Buffer.alloc(0)
const { id: ID } = parseMasterKey(TEXT) ?? { id: '' }
const PLAINTEXT = BYTES.toString('base64')

interface Asked {
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
}

let server: Server
let url: string
const asked: Asked[] = []
let answer: (asked: Asked) => [status: number, body: object]

beforeEach(async () => {
  asked.length = 0
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { headers, url: path = '' } = request
    const one = { path, headers, body: JSON.parse(String(Buffer.concat(chunks))) }
    asked.push(one)
    const [status, body] = answer(one)
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  vi.stubEnv('AWS_ENDPOINT_URL_KMS', url)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function keyBy(text: string, ciphertext: string): WrappedKey {
  return new WrappedKey(ID, wrappingKey(text), ciphertext)
}

function wrappingKey(text: string): WrappingKey {
  const key = parseWrappingKey(text)
  if (!key) throw new Error(`${text} names no key`)
  return key
}

const serverWith = (masterKey: WrappedKey, set: KeyServiceSettings) => ({
  mode: 'server' as const,
  dataDir: '/nowhere',
  masterKey,
  ...set,
})
const AWS = { awsClientCredentials: { accessKeyId: 'AKID', secretAccessKey: 'SECRET' } }
const sealed = createVault([parseMasterKey(TEXT) ?? keyBy('vault:a/b', '')]).seal('text', 'a')

test('AWS KMS wraps and unwraps a key, in the region of its ARN and with the id in the encryption context', async () => {
  const CiphertextBlob = Buffer.from('wrapped').toString('base64')
  const context = { 'fantail:masterKey': ID }
  answer = ({ headers }) =>
    headers['x-amz-target'] === 'TrentService.Encrypt'
      ? [200, { CiphertextBlob, KeyId: ARN }]
      : [200, { Plaintext: PLAINTEXT, KeyId: ARN }]
  const ciphertext = await wrapKey({ id: ID, bytes: BYTES }, wrappingKey(`awskms:${ARN}`), AWS)
  expect(ciphertext).toBe(CiphertextBlob)
  const vault = await openVault(serverWith(keyBy(`awskms:${ARN}`, ciphertext), AWS))
  expect(vault?.open(sealed, 'a')).toBe('text')
  expect(asked.map(({ headers, body }) => [headers['x-amz-target'], body])).toEqual([
    ['TrentService.Encrypt', { KeyId: ARN, Plaintext: PLAINTEXT, EncryptionContext: context }],
    ['TrentService.Decrypt', { KeyId: ARN, CiphertextBlob, EncryptionContext: context }],
  ])
  for (const { headers } of asked)
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/kms\/aws4_request, /,
    )
})

test.each<[string, KeyServiceSettings['vaultLogin'], Asked['body'] | undefined]>([
  ['a token', { by: 'token', token: 'hvs.given' }, undefined],
  [
    'approle',
    { by: 'approle', roleId: 'role', secretId: 'secret' },
    { role_id: 'role', secret_id: 'secret' },
  ],
])('Vault wraps and unwraps a key, with a login by %s', async (_, vaultLogin, login) => {
  const ciphertext = 'vault:v3:d3JhcHBlZCBrZXkgaGVyZQ=='
  answer = ({ path }) => {
    if (path.includes('/login')) return [200, { auth: { client_token: 'hvs.made' } }]
    return [200, { data: path.includes('/encrypt/') ? { ciphertext } : { plaintext: PLAINTEXT } }]
  }
  const settings = { vaultUrl: url, vaultLogin }
  const by = 'vault:secure/transit/fantail'
  const wrapped = await wrapKey({ id: ID, bytes: BYTES }, wrappingKey(by), settings)
  const vault = await openVault(serverWith(keyBy(by, wrapped), settings))
  expect(vault?.open(sealed, 'a')).toBe('text')
  const requests = asked.filter(({ path }) => !path.includes('/login'))
  expect(requests.map(({ path, body }) => [path, body])).toEqual([
    ['/v1/secure/transit/encrypt/fantail', { plaintext: PLAINTEXT }],
    ['/v1/secure/transit/decrypt/fantail', { ciphertext }],
  ])
  const token = login ? 'hvs.made' : 'hvs.given'
  for (const { headers } of requests) expect(headers['x-vault-token']).toBe(token)
  const logins = asked.filter(({ path }) => path === '/v1/auth/approle/login')
  expect(logins.map(({ body }) => body)).toEqual(login ? [login, login] : [])
})

test('a pod logs in at Vault with the token of its service account', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fantail-pod-'))
  const podToken = join(folder, 'token')
  await writeFile(podToken, 'token of the pod\n')
  answer = ({ path }) =>
    path.includes('/login')
      ? [200, { auth: { client_token: 'hvs.made' } }]
      : [200, { data: { plaintext: PLAINTEXT } }]
  const vaultLogin = { by: 'kubernetes' as const, role: 'fantail' }
  const service = createVaultTransit({ vaultUrl: url, vaultLogin }, podToken)

  expect(await service.unwrap({ name: 'transit/fantail', id: ID }, 'v1:wrapped')).toEqual(BYTES)
  expect(asked.map(({ path, headers, body }) => [path, headers['x-vault-token'], body])).toEqual([
    ['/v1/auth/kubernetes/login', undefined, { role: 'fantail', jwt: 'token of the pod' }],
    ['/v1/transit/decrypt/fantail', 'hvs.made', { ciphertext: 'vault:v1:wrapped' }],
  ])
  await rm(folder, { recursive: true })
})

test.each<[string, KeyServiceSettings, () => [number, object], string]>([
  [
    `awskms:${ARN}`,
    AWS,
    () => [400, { __type: 'AccessDeniedException', message: 'not for AKID' }],
    `AWS KMS does not help with ${ARN}: AccessDeniedException: not for AKID`,
  ],
  [
    'vault:transit/fantail',
    { vaultLogin: { by: 'token', token: 'hvs.given' } },
    () => [403, { errors: ['permission denied'] }],
    'Vault answered 403 at transit/decrypt/fantail: permission denied',
  ],
  [
    'vault:transit/fantail',
    { vaultLogin: { by: 'token', token: 'hvs.given' } },
    () => [200, { data: { plaintext: Buffer.alloc(32).toString('base64') } }],
    `the unwrapped bytes are not master key ${ID}`,
  ],
])('a command that needs %s fails with the answer of the service', async (by, settings, reply, message) => {
  answer = reply
  const key = keyBy(by, 'v1:d3JhcHBlZA==')
  await expect(openVault(serverWith(key, { vaultUrl: url, ...settings }))).rejects.toThrow(message)
})

test('a service starts without its key while the key service refuses, logs no secret, and gets it later', async () => {
  const lines: string[] = []
  const log = createLogger({
    service: 'test',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  })
  let isAway = true
  answer = () => (isAway ? [503, { errors: ['Vault is sealed'] }] : [200, { data: { plaintext: PLAINTEXT } }])
  const settings = { vaultUrl: url, vaultLogin: { by: 'token', token: 'hvs.given' } } as const
  const opening = openVault(serverWith(keyBy('vault:transit/fantail', 'v1:d3JhcHBlZA=='), settings), log)
  await waitFor(() => asked.length >= 2, { what: 'a second try' })
  isAway = false
  const vault = await opening
  await waitFor(() => lines.length >= 2, { what: 'the line' })
  expect(vault?.open(sealed, 'a')).toBe('text')
  const texts = lines.map((line) => JSON.parse(line) as { msg: string; err?: { message: string } })
  expect(texts.map(({ msg }) => msg)).toEqual(['master_keys.down', 'master_keys.up'])
  expect(texts[0]?.err?.message).toBe('Vault answered 503 at transit/decrypt/fantail: Vault is sealed')
  for (const secret of ['hvs', PLAINTEXT.slice(0, 20), 'd3JhcHBl']) expect(lines.join()).not.toContain(secret)
})
