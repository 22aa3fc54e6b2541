/** Creates and connects the objects for live events. */
import { createStateLog, type Logger } from '@fantail/runtime'
import {
  hearListeners,
  LiveSender,
  OutcomeReader,
  type Redis,
  SliceFinder,
  type Snapshots,
} from '@fantail/store'
import { EventListeners } from './event-listeners.ts'
import { LiveChannel } from './live-channel.ts'
import { LogFollower } from './log-follower.ts'

interface EventsOptions {
  redis: Redis
  subscriber: Redis
  snapshots: Pick<Snapshots, 'slice' | 'former'>
  /** Number of dispatch queues. The outcome log has a stream for each. */
  queues: number
  /** Number of entries that the outcome log keeps. 0: it is not kept. */
  logMessages: number
  /** Epoch ms. */
  clock: () => number
  log: Pick<Logger, 'info' | 'warn' | 'error'>
}

export interface Events {
  events: EventListeners
  eventLog: OutcomeReader
  live: LiveSender
  /** Finds the subscriptions of events. It must forget subscriptions that have changed. */
  finder: SliceFinder
}

export function createEvents(options: EventsOptions): Events {
  const { redis, subscriber, snapshots, queues, logMessages, clock, log } = options
  const eventLog = new OutcomeReader(redis, { queues })
  const finder = new SliceFinder(snapshots)
  const follower = new LogFollower({
    reader: eventLog,
    finder,
    isKept: logMessages > 0,
    report: createStateLog({ log, what: 'event_log', initial: 'up' }),
    onUnreadable: (error) => log.error({ err: error }, 'event_log.unreadable'),
  })
  const channel = new LiveChannel({ redis, subscriber, clock })
  const live = new LiveSender(redis)
  hearListeners(subscriber, live)
  return { events: new EventListeners({ follower, channel, clock }), eventLog, live, finder }
}
