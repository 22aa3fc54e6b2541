/** Which Redis the settings mean: one server, a cluster or what Sentinels watch; and that they mean one of these only. */
import type { HostPort, RedisAccess, RedisTarget } from '@fantail/contracts'
import { z } from 'zod'
import { flag, matching, url } from './schemas.ts'
import { type Env, optional, type SettingProblem, setting, type Values } from './setting.ts'

const PORT = 6_379
const SENTINEL_PORT = 26_379
const PORT_MAX = 65_535
/** `host`, `host:port`, `[::1]:port`; the schemes and credentials of a URL stand before it. */
const ENTRY =
  /^(?:(rediss?):\/\/(?:([^:@/\s]*):([^@/\s]*)@)?)?(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?\/?$/

export interface RedisNodes extends RedisAccess {
  nodes: HostPort[]
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
  access: RedisAccess
}

function readEntry(text: string, port: number): Entry | undefined {
  const [whole, scheme, username, password, host = '', portText] = ENTRY.exec(text) ?? []
  if (whole === undefined || Number(portText ?? port) > PORT_MAX || portText === '0') return undefined
  return {
    place: { host: host.replace(/^\[|\]$/g, ''), port: Number(portText ?? port) },
    isUrl: scheme !== undefined,
    access: {
      ...(scheme === 'rediss' && { tls: true }),
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
    description: 'Whether Redis is spoken to over TLS, with REDIS_CLUSTER_NODES or REDIS_SENTINELS.',
  }),
}

export type RedisValues = Values<typeof redisTable>

const PLACES = ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'] as const

/** Exactly one place in server mode, at most one in local mode. */
export function redisRule({ mode }: { mode?: 'local' | 'server' }, env: Env): SettingProblem[] {
  const given = PLACES.filter((name) => env[name]?.trim())
  if (given.length > 1) {
    return given.slice(1).map((name) => ({ name, message: `must not be set beside ${given[0]}` }))
  }
  if (mode === 'server' && given.length === 0) {
    const message =
      'must be set in server mode, e.g. REDIS_URL=redis://redis:6379 (or REDIS_CLUSTER_NODES, or REDIS_SENTINELS)'
    return [{ name: 'REDIS_URL', message }]
  }
  return companions(given[0], env)
}

/** What only means something beside one of the places. */
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

/** undefined: wherever the local Redis says that it listens. */
export function redisTarget(values: Partial<RedisValues>): RedisTarget | undefined {
  const access: RedisAccess = {
    ...(values.redisUsername !== undefined && { username: values.redisUsername }),
    ...(values.redisPassword !== undefined && { password: values.redisPassword }),
    ...(values.redisTls && { tls: true }),
  }
  if (values.redisClusterNodes) {
    const natMap = values.redisClusterNatMap
    return { ...access, ...values.redisClusterNodes, ...(natMap && { natMap }) }
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
  return values.redisUrl
}
