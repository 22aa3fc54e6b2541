/** Lets a service follow the time of a stack whose time can be moved (FANTAIL_TIME_TRAVEL). */
import { checkTravel, followTravel, type Redis, type Traveller } from '@fantail/store'
import type { Logger } from './loops/logger.ts'

export interface TravelMode {
  mode: 'local' | 'server'
  timeTravel: 'on' | 'off'
}

interface JoinTravelOptions {
  connections: { redis: Redis; subscriber: Redis }
  settings: TravelMode
  traveller: Traveller
  log: Pick<Logger, 'warn'>
}

/**
 * Rejects with a TravelledDataError if the process must not use this data. Resolves with the stack's id if its time can
 * be moved.
 */
export async function joinTravel(options: JoinTravelOptions): Promise<string | undefined> {
  const { connections, settings, traveller, log } = options
  const timeTravel = settings.timeTravel === 'on'
  const id = await checkTravel(connections.redis, { mode: settings.mode, timeTravel })
  if (id === undefined) return undefined
  const onProblem = (error: Error) => log.warn({ err: error }, 'time_travel.answer_failed')
  await followTravel({ ...connections, id, traveller, onProblem })
  return id
}
