/**
 * The storage of a stack: one Redis, a cluster of three masters with a replica each, or a master watched by Sentinels.
 * FANTAIL_TEST_PLACE=cluster or sentinels runs any test of a whole stack on one of the other two.
 */
import type { RedisTarget, RedisTls } from '@fantail/contracts'
import {
  startCluster,
  startRedis,
  startSentinels,
  type TestCluster,
  type TestRedis,
  type TestRedisOptions,
  type TestSentinels,
  type TestTls,
} from '@fantail/test-kit'

export type PlaceKind = 'single' | 'cluster' | 'sentinels'

export interface RedisPlace {
  /** By which services find it. */
  env: Record<string, string>
  target: RedisTarget
  /** The only server, or the first master. */
  redis: TestRedis
  cluster?: TestCluster
  sentinels?: TestSentinels
  /** The end of the log of each server, and of each Sentinel. */
  logText(): Promise<string>
  stop(): Promise<void>
}

export async function startPlace(
  kind: PlaceKind = givenKind(),
  options: TestRedisOptions = {},
): Promise<RedisPlace> {
  const { env: tlsEnv, ...access } = tlsPlace(options.tls)
  if (kind === 'cluster') {
    const cluster = await startCluster(options)
    const env = { ...tlsEnv, REDIS_CLUSTER_NODES: cluster.addresses, FANTAIL_QUEUES: '3' }
    const target = { ...cluster.target, ...access }
    const logText = () => logTextOf(cluster.nodes)
    return { env, target, redis: first(cluster.nodes), cluster, logText, stop: cluster.stop }
  }
  if (kind === 'sentinels') {
    const sentinels = await startSentinels(options)
    const env = { ...tlsEnv, REDIS_SENTINELS: sentinels.addresses, REDIS_SENTINEL_NAME: sentinels.name }
    const target = { ...sentinels.target, ...access }
    const logText = async () => [await logTextOf(sentinels.nodes), ...(await sentinels.logTexts())].join('\n')
    return { env, target, redis: first(sentinels.nodes), sentinels, logText, stop: sentinels.stop }
  }
  const redis = await startRedis(options)
  const target = access.tls ? { url: redis.url, tls: access.tls } : redis.url
  const logText = () => logTextOf([redis])
  return { env: { ...tlsEnv, REDIS_URL: redis.url }, target, redis, logText, stop: redis.stop }
}

/** Place of a server that runs already. */
export function placeOf(redis: TestRedis, stop = redis.stop): RedisPlace {
  const { url } = redis
  return { env: { REDIS_URL: url }, target: url, redis, logText: () => logTextOf([redis]), stop }
}

async function logTextOf(nodes: TestRedis[]): Promise<string> {
  const texts = await Promise.all(
    nodes.map(async ({ port, logText }) => `Redis at ${port}:\n${await logText()}`),
  )
  return texts.join('\n')
}

function tlsPlace(tls: TestTls | undefined): { tls?: RedisTls; env: Record<string, string> } {
  if (!tls) return { env: {} }
  const { ca, cert, key } = tls.files
  const { servername } = tls.pem
  const env = {
    REDIS_TLS: 'true',
    REDIS_TLS_CA_FILE: ca,
    REDIS_TLS_CERT_FILE: cert,
    REDIS_TLS_KEY_FILE: key,
    ...(servername && { REDIS_TLS_SERVER_NAME: servername }),
  }
  return { tls: tls.pem, env }
}

function givenKind(): PlaceKind {
  const kind = process.env.FANTAIL_TEST_PLACE ?? 'single'
  if (kind !== 'single' && kind !== 'cluster' && kind !== 'sentinels')
    throw new Error(`FANTAIL_TEST_PLACE is cluster or sentinels, not ${kind}`)
  return kind
}

function first([node]: TestRedis[]): TestRedis {
  if (!node) throw new Error('no server')
  return node
}
