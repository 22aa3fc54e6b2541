/** Where Redis is: one server by its URL, a cluster, or whichever server Sentinels say is the master. */
export type RedisTarget = string | RedisServer | RedisCluster | RedisSentinels

/** One server whose TLS is not Node's own way. */
export interface RedisServer {
  url: string
  tls: RedisTls
}

/** PEM texts; what is absent is as Node has it. */
export interface RedisTls {
  /** Authorities that may have issued the servers' certificates. */
  ca?: string
  /** The client's certificate, with its key. */
  cert?: string
  key?: string
  /** That the servers' certificates are for, where it is not the host that is connected to. */
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

/** Any of a cluster's nodes; the others are learned from the first that answers. */
export interface RedisCluster extends RedisAccess {
  nodes: HostPort[]
  /**
   * How nodes are reached where the addresses that they announce are not: `host:port` announced → `host:port` to use.
   */
  natMap?: Record<string, HostPort>
}

export interface RedisSentinels extends RedisAccess {
  sentinels: HostPort[]
  /** The name that the Sentinels know the master by. */
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
