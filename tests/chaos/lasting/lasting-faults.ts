/**
 * Faults that stay until the end of a run. Each one says how it begins, which endpoints it touches, and where an
 * operator must see it.
 */
import { onRawRequest, redisServerPath, startRawServer } from '@fantail/test-kit'
import { drip } from '../../harness/receivers/bad-receivers.ts'
import { falseClockProblem } from '../../harness/services/false-clock.ts'
import { TOPIC } from '../inputs/chaos-topics.ts'
import type { WorldOptions } from '../world/world.ts'
import { JUDGED } from './lasting-judge.ts'
import { drift, fillDisk, mountSmallDisk, smallDiskProblem, startSilentNameServer } from './places.ts'
import { type Operator, readiness, type Sign, serviceOf, silence, verdicts } from './signs.ts'
import type { SteadyLoad } from './steady-load.ts'

/** The given functions are called when the run is over. */
export type OnEnd = (end: () => unknown) => void

interface Scene extends Operator {
  load: SteadyLoad
  onEnd: OnEnd
}

export interface LastingFault {
  /** How the run's Redis and services differ. */
  world?(onEnd: OnEnd): Partial<WorldOptions> | Promise<Partial<WorldOptions>>
  /** Why this machine cannot have the fault. Undefined: it can. */
  problem?(): string | undefined
  begin(scene: Scene): unknown
  /** Endpoints that need not get messages while the fault lasts. */
  touches?: readonly string[]
  /** Undefined: nothing shows it, because nothing suffers from it. */
  visible?: Sign
}

const LAG_MS = 5_000
const SLOW_MS = 300
/** More bytes than an attempt has seconds. */
const DRIPPED = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

export const LASTING_FAULTS: Readonly<Record<string, LastingFault>> = {
  'frozen-worker': {
    begin: ({ world }) => serviceOf(world, 'worker-1').signal('SIGSTOP'),
    visible: silence('worker-1'),
  },
  'frozen-api': {
    begin: async ({ world, load }) => {
      await load.useOnly(0)
      serviceOf(world, 'api-1').signal('SIGSTOP')
    },
    visible: silence('api-1'),
  },
  'dead-replica': {
    world: () => ({ replicated: true }),
    begin: ({ world: { redis } }) => redis.killReplica(),
    visible: readiness('api-0', 'replicas_missing'),
  },
  'lagging-replica': {
    world: () => ({ replicated: true }),
    begin: ({ world: { redis } }) => redis.delayReplica(LAG_MS),
    visible: readiness('api-0', 'replicas_missing'),
  },
  'slow-redis': {
    begin: ({ world: { redis } }) => {
      for (const address of [redis.address, redis.aside]) address.delayReplies(SLOW_MS)
    },
    visible: readiness('worker-1', 'redis_slow'),
  },
  // Requests reach Redis, which carries them out. No answer comes back.
  'partition-of-replies': {
    begin: ({ world: { redis } }) => redis.aside.mute('replies'),
    visible: readiness('worker-1', 'unavailable'),
  },
  'partition-of-requests': {
    begin: ({ world: { redis } }) => redis.aside.mute('requests'),
    visible: readiness('worker-1', 'unavailable'),
  },
  'full-redis': {
    begin: ({ world: { redis } }) => redis.fillMemory(),
    visible: readiness('api-0', 'storage_full'),
  },
  'hung-providers': {
    begin: ({ world: { providers } }) => providers.hang('function', 'stream', 'mail', 'sms', 'push'),
    touches: ['function', 'stream', 'mail', 'mail-json', 'sms', 'push'],
    visible: verdicts('function', 'stream', 'mail', 'push'),
  },
  'full-disk': {
    problem: smallDiskProblem,
    world: (onEnd) => {
      const { path, close } = mountSmallDisk()
      onEnd(close)
      // With `always` Redis ends itself when it cannot write.
      return { appendfsync: 'everysec', args: ['--dir', path] }
    },
    begin: async ({ world }) => fillDisk(await world.redis.folder()),
    touches: JUDGED,
    visible: readiness('api-0', 'unavailable'),
  },
  'silent-name-servers': {
    world: async (onEnd) => {
      const { address, close } = await startSilentNameServer()
      onEnd(close)
      return { env: { CHAOS_NAME_SERVER: address } }
    },
    begin: async ({ world, subscriptions }) => {
      const endpoint = { endpoint: `http://named.example:${world.receiver.port}/`, rawMessageDelivery: true }
      subscriptions.set('named', await world.clients[0].post(`/v1/topics/${TOPIC}/subscriptions`, endpoint))
    },
    visible: verdicts('named'),
  },
  'fast-clock-of-worker': drifting('worker-0', 1),
  'slow-clock-of-worker': drifting('worker-0', -1),
  'fast-clock-of-redis': drifting('redis', 1),
  'slow-clock-of-redis': drifting('redis', -1),
  'dripping-endpoint': {
    begin: async ({ world, subscriptions, onEnd }) => {
      const server = await startRawServer((socket) => onRawRequest(socket, () => drip(socket, DRIPPED)))
      onEnd(server.close)
      const endpoint = { endpoint: server.url, rawMessageDelivery: true }
      subscriptions.set(
        'dripping',
        await world.clients[0].post(`/v1/topics/${TOPIC}/subscriptions`, endpoint),
      )
    },
    visible: verdicts('dripping'),
  },
}

function drifting(of: 'worker-0' | 'redis', direction: 1 | -1): LastingFault {
  return {
    problem: () => falseClockProblem(of === 'redis' ? redisServerPath() : process.execPath),
    begin: ({ world, onEnd }) => {
      const clock = world.clocks[of]
      if (!clock) throw new Error(`${of} has no false clock`)
      onEnd(drift(clock, direction).close)
    },
  }
}
