/**
 * Faults that stay until the end of a run. Each one says how it begins, which endpoints it touches, and where an
 * operator must see it.
 */
import { onRawRequest, startRawServer } from '@fantail/test-kit'
import { drip } from '../../harness/receivers/bad-receivers.ts'
import { TOPIC } from '../inputs/chaos-topics.ts'
import type { WorldOptions } from '../world/world.ts'
import { logged, type Operator, readiness, type Sign, serviceOf, silence, verdicts } from './signs.ts'
import type { SteadyLoad } from './steady-load.ts'

interface Scene extends Operator {
  load: SteadyLoad
  /** Called when the run is over. */
  onEnd(end: () => unknown): void
}

export interface LastingFault {
  /** How the run's Redis and services differ. */
  world?: Partial<WorldOptions>
  begin(scene: Scene): unknown
  /** Endpoints that need not get messages while the fault lasts. */
  touches?: readonly string[]
  visible: Sign
}

const LAG_MS = 5_000
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
    world: { replicated: true },
    begin: ({ world: { redis } }) => redis.killReplica(),
    visible: readiness('api-0', 'replicas_missing'),
  },
  'lagging-replica': {
    world: { replicated: true },
    begin: ({ world: { redis } }) => redis.delayReplica(LAG_MS),
    visible: logged('api-0', 'replicas.down'),
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
