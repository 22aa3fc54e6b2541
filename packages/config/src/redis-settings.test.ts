import { createTestTls, type TestTls } from '@fantail/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisTarget } from './redis-settings.ts'
import { readWorkerSettings } from './services.ts'
import { SettingsError } from './setting.ts'

let tls: TestTls
let others: TestTls
beforeAll(async () => {
  tls = await createTestTls()
  others = await createTestTls()
})
afterAll(() => Promise.all([tls.remove(), others.remove()]))

const targetOf = (env: Record<string, string>) => redisTarget(readWorkerSettings(env))

function problemsOf(env: Record<string, string>): string[] {
  try {
    readWorkerSettings(env)
  } catch (error) {
    if (error instanceof SettingsError) return error.problems.map(({ name, message }) => `${name} ${message}`)
    throw error
  }
  return []
}

describe('the place of Redis', () => {
  it('is a server, by its URL', () => {
    expect(targetOf({ REDIS_URL: 'rediss://:pw@redis:6380' })).toBe('rediss://:pw@redis:6380')
    expect(targetOf({})).toBeUndefined()
  })

  it('is a cluster, by some of its nodes', () => {
    expect(targetOf({ REDIS_CLUSTER_NODES: 'a:7001, b, [::1]:7003' })).toEqual({
      nodes: [
        { host: 'a', port: 7_001 },
        { host: 'b', port: 6_379 },
        { host: '::1', port: 7_003 },
      ],
    })
    expect(targetOf({ REDIS_CLUSTER_NODES: 'rediss://me:p%40ss@a:1,rediss://me:p%40ss@b:2' })).toEqual({
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      username: 'me',
      password: 'p@ss',
      tls: {},
    })
    const env = { REDIS_CLUSTER_NODES: 'a:1', REDIS_PASSWORD: 'pw', REDIS_TLS: 'true' }
    expect(targetOf({ ...env, REDIS_CLUSTER_NAT_MAP: '10.0.0.1:6379=host:7001' })).toEqual({
      nodes: [{ host: 'a', port: 1 }],
      password: 'pw',
      tls: {},
      natMap: { '10.0.0.1:6379': { host: 'host', port: 7_001 } },
    })
  })

  it('is what Sentinels say', () => {
    const env = {
      REDIS_SENTINELS: 's1,s2:5000',
      REDIS_SENTINEL_NAME: 'main',
      REDIS_SENTINEL_PASSWORD: 'spw',
      REDIS_USERNAME: 'me',
      REDIS_PASSWORD: 'pw',
    }
    expect(targetOf(env)).toEqual({
      sentinels: [
        { host: 's1', port: 26_379 },
        { host: 's2', port: 5_000 },
      ],
      name: 'main',
      sentinelPassword: 'spw',
      username: 'me',
      password: 'pw',
    })
  })
})

const tlsFiles = () => ({
  REDIS_TLS_CA_FILE: tls.files.ca,
  REDIS_TLS_CERT_FILE: tls.files.cert,
  REDIS_TLS_KEY_FILE: tls.files.key,
  REDIS_TLS_SERVER_NAME: 'redis.internal',
})

describe('TLS to Redis', () => {
  it('is checked by the authorities, and shown the certificate, that files hold', () => {
    const spoken = { ...tls.pem, servername: 'redis.internal' }
    expect(targetOf({ ...tlsFiles(), REDIS_URL: 'rediss://a' })).toEqual({ url: 'rediss://a', tls: spoken })
    expect(targetOf({ ...tlsFiles(), REDIS_CLUSTER_NODES: 'rediss://a' })).toMatchObject({ tls: spoken })
    const sentinels = { REDIS_SENTINELS: 's', REDIS_SENTINEL_NAME: 'main', REDIS_TLS: 'true' }
    expect(targetOf({ ...tlsFiles(), ...sentinels })).toMatchObject({ tls: spoken })
    expect(targetOf(sentinels)).toMatchObject({ tls: {} })
  })

  it('has no files without a place that speaks it', () => {
    const { REDIS_TLS_CA_FILE } = tlsFiles()
    expect(problemsOf({ REDIS_URL: 'redis://a', REDIS_TLS: 'true' })).toEqual([
      'REDIS_URL must begin with rediss:// where REDIS_TLS is set',
    ])
    expect(problemsOf({ REDIS_URL: 'redis://a', REDIS_TLS_CA_FILE })).toEqual([
      'REDIS_URL must begin with rediss:// where REDIS_TLS_CA_FILE is set',
    ])
    expect(problemsOf({ REDIS_CLUSTER_NODES: 'a:1', REDIS_TLS_CA_FILE })).toEqual([
      'REDIS_TLS must be true where REDIS_TLS_CA_FILE is set',
    ])
  })

  it('has files that hold what they should, in pairs', () => {
    const { ca, cert, key } = tls.files
    const rediss = { REDIS_URL: 'rediss://a' }
    expect(problemsOf({ ...rediss, REDIS_TLS_CA_FILE: '/nowhere', REDIS_TLS_CERT_FILE: key })).toEqual([
      'REDIS_TLS_CA_FILE must name a file that can be read',
      'REDIS_TLS_CERT_FILE must name a file with certificates in PEM',
      'REDIS_TLS_KEY_FILE must be set where REDIS_TLS_CERT_FILE is',
    ])
    expect(problemsOf({ ...rediss, REDIS_TLS_CERT_FILE: cert, REDIS_TLS_KEY_FILE: ca })).toEqual([
      'REDIS_TLS_KEY_FILE must name a file with a private key in PEM that needs no passphrase',
    ])
    const another = { REDIS_TLS_CERT_FILE: cert, REDIS_TLS_KEY_FILE: others.files.key }
    expect(problemsOf({ ...rediss, ...another })).toEqual([
      'REDIS_TLS_KEY_FILE must be the key of REDIS_TLS_CERT_FILE',
    ])
  })
})

describe('contradictory settings are refused by name', () => {
  it.each([
    [
      { REDIS_URL: 'redis://a', REDIS_CLUSTER_NODES: 'a:1' },
      'REDIS_CLUSTER_NODES must not be set together with REDIS_URL',
    ],
    [
      { REDIS_CLUSTER_NODES: 'a:1', REDIS_SENTINELS: 's' },
      'REDIS_SENTINELS must not be set together with REDIS_CLUSTER_NODES',
    ],
    [{ REDIS_SENTINELS: 's' }, 'REDIS_SENTINEL_NAME must be set where REDIS_SENTINELS is'],
    [{ REDIS_SENTINEL_NAME: 'main' }, 'REDIS_SENTINELS must be set where REDIS_SENTINEL_NAME is'],
    [
      { REDIS_URL: 'redis://a', REDIS_CLUSTER_NAT_MAP: 'a:1=b:2' },
      'REDIS_CLUSTER_NODES must be set where REDIS_CLUSTER_NAT_MAP is',
    ],
    [
      { REDIS_CLUSTER_NODES: 'http://a' },
      'REDIS_CLUSTER_NODES must be nodes as host:port, redis:// or rediss:// URLs, separated by commas',
    ],
    [
      { REDIS_CLUSTER_NODES: 'redis://:x@a,redis://:y@b' },
      'REDIS_CLUSTER_NODES must give each node the same scheme and credentials',
    ],
    [
      { REDIS_SENTINELS: 's:99999', REDIS_SENTINEL_NAME: 'main' },
      'REDIS_SENTINELS must be Sentinels as host:port, separated by commas',
    ],
  ])('%o', (env, problem) => {
    expect(problemsOf(env as Record<string, string>)).toEqual([problem])
  })

  it('in server mode there must be one', () => {
    expect(problemsOf({ FANTAIL_MODE: 'server' }).join()).toContain('REDIS_URL must be set in server mode')
    expect(problemsOf({ FANTAIL_MODE: 'server', REDIS_CLUSTER_NODES: 'a:1' })).toEqual([])
  })
})
