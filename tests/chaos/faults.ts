/** Makes the faults of the schedule, and repairs each when its time is over. */
import { waitFor } from '@fantail/test-kit'
import { untilPassed } from '../harness/services/passing-time.ts'
import type { Fault, RedisFault } from './plan/fault-plan.ts'
import type { EventLog } from './world/run-folder.ts'
import type { World } from './world/world.ts'

/** Much longer than workers continue without a missing replica (store/src/redis/replica-acks.ts). */
const FOLLOWED_MS = 7_000
const CALM_MEMORY = '256mb'

/** Resolves when the fault is over. A fault that is impossible on this machine is recorded. */
export async function carryOut(fault: Fault, world: World, events: EventLog): Promise<void> {
  events.note({ event: 'fault', ...fault })
  switch (fault.kind) {
    case 'kill':
      await world.supervisor.kill(fault.of, fault.downMs)
      break
    case 'freeze':
      await world.supervisor.freeze(fault.of, fault.forMs)
      break
    case 'clock':
      await stepClock(fault, world, events)
      break
    case 'failover':
      await failOver(fault, world, events)
      break
    case 'archive-away':
      world.bucket.isAway = true
      await untilPassed(fault.forMs)
      world.bucket.isAway = false
      break
    default:
      await harmRedis(fault, world)
  }
  events.note({ event: 'fault-over', ...fault })
}

/** Repairs whatever is still broken. */
export async function calm(world: World): Promise<void> {
  world.redis.delayReplica(0)
  await world.redis.ask((redis) => redis.config('SET', 'maxmemory', CALM_MEMORY))
  await world.supervisor.ready()
}

type Harm = Exclude<RedisFault, { kind: 'clock' | 'failover' }>

async function harmRedis(fault: Harm, { redis }: World): Promise<void> {
  switch (fault.kind) {
    case 'redis-kill': {
      const { pid } = redis.master
      process.kill(pid(), fault.signal)
      await waitFor(() => !isAlive(pid()), { what: 'Redis to end', intervalMs: 5 })
      await untilPassed(fault.downMs)
      await redis.master.restart()
      redis.linkBroke()
      break
    }
    case 'redis-freeze':
      await redis.master.freeze()
      await untilPassed(fault.forMs)
      await redis.master.thaw()
      redis.linkBroke()
      break
    case 'client-kill':
      await redis.ask((connection) => connection.call('CLIENT', 'KILL', 'TYPE', fault.type, 'SKIPME', 'yes'))
      break
    case 'client-pause':
      await redis.ask((connection) => connection.call('CLIENT', 'PAUSE', String(fault.forMs), fault.mode))
      await untilPassed(fault.forMs)
      break
    case 'script-flush':
      await redis.ask((connection) => connection.script('FLUSH'))
      break
    case 'full-memory':
      await redis.fillMemory()
      await untilPassed(fault.forMs)
      await redis.ask((connection) => connection.config('SET', 'maxmemory', CALM_MEMORY))
      break
  }
}

/** Only if the replica has followed for a while. Before that, writes may have continued without it. */
async function failOver(
  { lagMs, laggingMs, downMs }: Extract<Fault, { kind: 'failover' }>,
  { redis }: World,
  events: EventLog,
): Promise<void> {
  if (redis.followedMs < FOLLOWED_MS) return events.note({ event: 'fault-skipped', kind: 'failover' })
  redis.delayReplica(lagMs)
  await untilPassed(laggingMs)
  await redis.failOver()
  await untilPassed(downMs)
  await redis.rejoin()
}

async function stepClock(
  { of, seconds }: Extract<Fault, { kind: 'clock' }>,
  { clocks }: World,
  events: EventLog,
): Promise<void> {
  const clock = clocks[of]
  if (clock) await clock.set(seconds)
  else events.note({ event: 'fault-skipped', kind: 'clock', of })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
