/**
 * Finds the Redis that the settings name: one server, a cluster, or the master that Sentinels watch. Refuses settings
 * that name more than one.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { HostPort, RedisAccess, RedisServer, RedisTarget, RedisTls } from '@fantail/contracts'
import { z } from 'zod'
import { certificatesFile, flag, matching, privateKeyFile, url } from './schemas.ts'
import { type Env, optional, type SettingProblem, setting, togetherRule, type Values } from './setting.ts'

const PORT = 6_379
const SENTINEL_PORT = 26_379
/** Port of a Redis. Past it: the setting is refused at the start. */
const PORT_OF_REDIS_MAX = 65_535
/** `host`, `host:port` or `[::1]:port`. A URL has its scheme and credentials before the host. */
const ENTRY =
  /^(?:(rediss?):\/\/(?:([^:@/\s]*):([^@/\s]*)@)?)?(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?\/?$/

export interface RedisNodes extends Pick<RedisAccess, 'username' | 'password'> {
  nodes: HostPort[]
  isTls?: true
}

const nodeList = () =>
  z.string().transform((text, { addIssue }): RedisNodes => {
    const entries = text.split(',').map((entry) => readEntry(entry.trim(), PORT))
    const known = entries.filter((entry) => entry !== undefined)
    if (known.length < entries.length) {
      addIssue('must be nodes as host:port, redis:// or rediss:// URLs, separated by commas')
      return z.NEVER
    }
    const access = new Set(known.map((entry) => JSON.stringify(entry.access)))
    if (access.size > 1) addIssue('must give each node the same scheme and credentials')
    return { nodes: known.map(({ place }) => place), ...known[0]?.access }
  })

const placeList = () =>
  z.string().transform((text, { addIssue }): HostPort[] => {
    const entries = text.split(',').map((entry) => readEntry(entry.trim(), SENTINEL_PORT))
    const places = entries.flatMap((entry) => (entry && !entry.isUrl ? [entry.place] : []))
    if (places.length < entries.length) addIssue('must be Sentinels as host:port, separated by commas')
    return places
  })

const natMap = () =>
  z.string().transform((text, { addIssue }): Record<string, HostPort> => {
    const pairs = text.split(',').map((pair) => pair.split('=').map((side) => readEntry(side.trim(), PORT)))
    const known = pairs.flatMap(([from, to, ...rest]) =>
      from && to && rest.length === 0 ? [[`${from.place.host}:${from.place.port}`, to.place] as const] : [],
    )
    if (known.length < pairs.length)
      addIssue('must be pairs announced:port=reachable:port, separated by commas')
    return Object.fromEntries(known)
  })

interface Entry {
  place: HostPort
  isUrl: boolean
  access: Omit<RedisNodes, 'nodes'>
}

function readEntry(text: string, port: number): Entry | undefined {
  const [whole, scheme, username, password, host = '', portText] = ENTRY.exec(text) ?? []
  if (whole === undefined || Number(portText ?? port) > PORT_OF_REDIS_MAX || portText === '0')
    return undefined
  return {
    place: { host: host.replace(/^\[|\]$/g, ''), port: Number(portText ?? port) },
    isUrl: scheme !== undefined,
    access: {
      ...(scheme === 'rediss' && { isTls: true as const }),
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
    },
  }
}

const text = () => matching(/^.+$/, 'must not be empty')

export const redisTable = {
  redisUrl: optional({
    name: 'REDIS_URL',
    schema: url(['redis:', 'rediss:']),
    unset: 'local mode waits for the Redis that FANTAIL_DATA_DIR names, server mode refuses to start',
    description: 'Redis or Valkey, 6.2 or newer, with its credentials.',
  }),
  redisClusterNodes: optional({
    name: 'REDIS_CLUSTER_NODES',
    schema: nodeList(),
    unset: 'no cluster',
    description:
      'In place of REDIS_URL: nodes of a Redis Cluster, as host:port or redis:// and rediss:// URLs, separated by commas. One that answers is enough.',
  }),
  redisClusterNatMap: optional({
    name: 'REDIS_CLUSTER_NAT_MAP',
    schema: natMap(),
    unset: 'nodes are reached at the addresses that they announce',
    description: 'Where nodes are reached otherwise, as announced:port=reachable:port, separated by commas.',
  }),
  redisSentinels: optional({
    name: 'REDIS_SENTINELS',
    schema: placeList(),
    unset: 'no Sentinel',
    description: 'In place of REDIS_URL: Sentinels that know the master, as host:port, separated by commas.',
  }),
  redisSentinelName: optional({
    name: 'REDIS_SENTINEL_NAME',
    schema: text(),
    unset: 'must be set where REDIS_SENTINELS is',
    description: 'Name that the Sentinels know the master by.',
  }),
  redisSentinelUsername: optional({
    name: 'REDIS_SENTINEL_USERNAME',
    schema: text(),
    unset: 'the default user',
    description: 'User of the Sentinels themselves.',
  }),
  redisSentinelPassword: optional({
    name: 'REDIS_SENTINEL_PASSWORD',
    schema: text(),
    unset: 'no password',
    description: 'Password of the Sentinels themselves.',
  }),
  redisUsername: optional({
    name: 'REDIS_USERNAME',
    schema: text(),
    unset: 'the default user',
    description: 'User of Redis, with REDIS_CLUSTER_NODES or REDIS_SENTINELS.',
  }),
  redisPassword: optional({
    name: 'REDIS_PASSWORD',
    schema: text(),
    unset: 'no password',
    description: 'Password of Redis, with REDIS_CLUSTER_NODES or REDIS_SENTINELS.',
  }),
  redisTls: setting({
    name: 'REDIS_TLS',
    schema: flag(),
    default: 'false',
    description:
      'Whether Redis, and Sentinels with it, are spoken to over TLS; as rediss:// says it in REDIS_URL and REDIS_CLUSTER_NODES.',
  }),
  redisTlsCa: optional({
    name: 'REDIS_TLS_CA_FILE',
    schema: certificatesFile(),
    unset: 'the public authorities that Node.js trusts',
    description:
      'Certificates, in PEM, of the authorities that the certificates of Redis and Sentinels may be from.',
  }),
  redisTlsCert: optional({
    name: 'REDIS_TLS_CERT_FILE',
    schema: certificatesFile(),
    unset: 'no client certificate',
    description: 'Client certificate, in PEM, for a Redis that asks for one.',
  }),
  redisTlsKey: optional({
    name: 'REDIS_TLS_KEY_FILE',
    schema: privateKeyFile(),
    unset: 'no client certificate',
    description: 'Private key, in PEM, of the client certificate.',
  }),
  redisTlsServerName: optional({
    name: 'REDIS_TLS_SERVER_NAME',
    schema: matching(/^[A-Za-z0-9._-]+$/, 'must be a host name'),
    unset: 'the host that is connected to',
    description:
      'Name that the certificates of Redis and Sentinels are for, where they are reached by other names or addresses.',
  }),
}

export type RedisValues = Values<typeof redisTable>

export const PLACES = ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'] as const

/** Server mode needs exactly one Redis among the settings. Local mode needs at most one. */
export function redisRule(values: RedisPart, env: Env): SettingProblem[] {
  const given = PLACES.filter((name) => env[name]?.trim())
  if (given.length > 1) {
    return given.slice(1).map((name) => ({ name, message: `must not be set together with ${given[0]}` }))
  }
  if (values.mode === 'server' && given.length === 0) {
    const message =
      'must be set in server mode, e.g. REDIS_URL=redis://redis:6379 (or REDIS_CLUSTER_NODES, or REDIS_SENTINELS)'
    return [{ name: 'REDIS_URL', message }]
  }
  return [...companions(given[0], env), ...tlsProblems(given[0], values, env), ...TLS_PAIR(values, env)]
}

type RedisPart = Partial<RedisValues> & { mode?: 'local' | 'server' }

const TLS_FILES = ['REDIS_TLS_CA_FILE', 'REDIS_TLS_CERT_FILE', 'REDIS_TLS_KEY_FILE', 'REDIS_TLS_SERVER_NAME']
const TLS_PAIR = togetherRule(['REDIS_TLS_CERT_FILE', 'REDIS_TLS_KEY_FILE'])

/**
 * Finds TLS settings that would have no effect. A redis:// URL would win silently, and traffic would be unencrypted.
 */
function tlsProblems(place: string | undefined, values: RedisPart, env: Env): SettingProblem[] {
  const { redisTlsCert: cert, redisTlsKey: key } = values
  const isPair = !cert || !key || new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  const pair = { name: 'REDIS_TLS_KEY_FILE', message: 'must be the key of REDIS_TLS_CERT_FILE' }
  const asks = [...(values.redisTls ? ['REDIS_TLS'] : []), ...TLS_FILES.filter((name) => env[name]?.trim())]
  if (!isPair) return [pair]
  if (!place || asks.length === 0 || isOverTls(values)) return []
  const [first] = asks
  return place === 'REDIS_URL'
    ? [{ name: place, message: `must begin with rediss:// where ${first} is set` }]
    : [{ name: 'REDIS_TLS', message: `must be true where ${first} is set` }]
}

function isOverTls({ redisUrl, redisClusterNodes, redisTls }: RedisPart): boolean {
  if (redisUrl !== undefined) return redisUrl.startsWith('rediss:')
  return Boolean(redisTls || redisClusterNodes?.isTls)
}

/** Settings that only make sense together with a setting for one kind of Redis. */
function companions(place: string | undefined, env: Env): SettingProblem[] {
  const isSet = (name: string) => Boolean(env[name]?.trim())
  const problems: SettingProblem[] = []
  if (place === 'REDIS_SENTINELS' && !isSet('REDIS_SENTINEL_NAME')) {
    problems.push({ name: 'REDIS_SENTINEL_NAME', message: 'must be set where REDIS_SENTINELS is' })
  }
  if (place !== 'REDIS_SENTINELS' && isSet('REDIS_SENTINEL_NAME')) {
    problems.push({ name: 'REDIS_SENTINELS', message: 'must be set where REDIS_SENTINEL_NAME is' })
  }
  if (place !== 'REDIS_CLUSTER_NODES' && isSet('REDIS_CLUSTER_NAT_MAP')) {
    problems.push({ name: 'REDIS_CLUSTER_NODES', message: 'must be set where REDIS_CLUSTER_NAT_MAP is' })
  }
  return problems
}

/** undefined: the settings name none, so local mode uses its own Redis. */
export function redisTarget(values: Partial<RedisValues>): RedisTarget | undefined {
  const access: RedisAccess = {
    ...(values.redisUsername !== undefined && { username: values.redisUsername }),
    ...(values.redisPassword !== undefined && { password: values.redisPassword }),
    ...(isOverTls(values) && { tls: tlsOf(values) }),
  }
  if (values.redisClusterNodes) {
    const { isTls: _, ...nodes } = values.redisClusterNodes
    const natMap = values.redisClusterNatMap
    return { ...access, ...nodes, ...(natMap && { natMap }) }
  }
  if (values.redisSentinels && values.redisSentinelName !== undefined) {
    const { redisSentinelUsername: sentinelUsername, redisSentinelPassword: sentinelPassword } = values
    return {
      ...access,
      sentinels: values.redisSentinels,
      name: values.redisSentinelName,
      ...(sentinelUsername !== undefined && { sentinelUsername }),
      ...(sentinelPassword !== undefined && { sentinelPassword }),
    }
  }
  return values.redisUrl === undefined ? undefined : redisServer(values.redisUrl, values)
}

/** One server by its URL. The TLS settings apply if the URL uses TLS. */
function redisServer(url: string, values: Partial<RedisValues>): string | RedisServer {
  const tls = tlsOf(values)
  return url.startsWith('rediss:') && Object.keys(tls).length > 0 ? { url, tls } : url
}

function tlsOf(values: Partial<RedisValues>): RedisTls {
  const { redisTlsCa: ca, redisTlsCert: cert, redisTlsKey: key, redisTlsServerName: servername } = values
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(servername !== undefined && { servername }),
  }
}
