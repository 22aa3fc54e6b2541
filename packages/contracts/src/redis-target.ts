/** The address of Redis: one server by its URL, a cluster, or the master that Sentinels name. */
export type RedisTarget = string | RedisServer | RedisCluster | RedisSentinels

/** One server with TLS settings that differ from Node's defaults. */
export interface RedisServer {
  url: string
  tls: RedisTls
}

/** PEM texts. Node's default applies to an absent member. */
export interface RedisTls {
  /** Authorities that may have issued the servers' certificates. */
  ca?: string
  /** The client's certificate, with its key. */
  cert?: string
  key?: string
  /** The name in the servers' certificates, if it differs from the host. */
  servername?: string
}

export interface HostPort {
  host: string
  port: number
}

export interface RedisAccess {
  username?: string
  password?: string
  /** Spoken where it is there. */
  tls?: RedisTls
}

/** Some of a cluster's nodes. The first node that answers names the others. */
export interface RedisCluster extends RedisAccess {
  nodes: HostPort[]
  /**
   * For nodes that cannot be reached at the addresses that they announce: announced `host:port` → `host:port` to use.
   */
  natMap?: Record<string, HostPort>
}

export interface RedisSentinels extends RedisAccess {
  sentinels: HostPort[]
  /** The master's name in the Sentinels. */
  name: string
  sentinelUsername?: string
  sentinelPassword?: string
}

export function isRedisCluster(target: RedisTarget): target is RedisCluster {
  return typeof target === 'object' && 'nodes' in target
}

export function isRedisSentinels(target: RedisTarget): target is RedisSentinels {
  return typeof target === 'object' && 'sentinels' in target
}
