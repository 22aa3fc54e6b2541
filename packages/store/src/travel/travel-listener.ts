/**
 * A process's part in moving the stack's time. The API asks all processes over a pub/sub channel. Each process first
 * adopts the new time. Then it answers which work it has, and for which time it waits. A question and its answers take
 * about a millisecond, so nobody has to poll.
 */
import type { Redis } from 'ioredis'
import { travelAnswers, travelQuestions } from '../keys/keys.ts'
import { passingTime } from './passing-clock.ts'
import { readTravelOffset } from './travel-store.ts'

/** The work that a process has under way. */
export interface WorkInHand {
  /** Names of the work that is under way. Empty: there is none. */
  busy: string[]
  /** Rises with each piece of work, so that work between two questions is noticed. */
  activity: number
  /** Epoch ms of the stack at which the process continues. Absent: it waits for no time, or only for its timers. */
  dueAt?: number | undefined
  /** The number of active jobs that only wait for time to pass, by BullMQ's queue. */
  waitingJobs?: Record<string, number>
}

export interface TravelQuestion {
  ask: number
  offsetMs: number
}

export interface TravelAnswer extends WorkInHand {
  ask: number
  /** The ms until the next timer of PassingTime is due. null: there is none. */
  nextInMs: number | null
}

export interface Traveller {
  /** Called after each move, before the answer. */
  moved(): Promise<void>
  work(): WorkInHand
}

interface TravelListenerOptions {
  redis: Redis
  /** For messages. It is shared, and not closed here. */
  subscriber: Redis
  /** The stack's id (checkTravel). */
  id: string
  traveller: Traveller
  onProblem(error: Error): void
}

/** Follows the stack's time from now on. */
export async function followTravel({ subscriber, ...options }: TravelListenerOptions): Promise<void> {
  const { redis, id, traveller, onProblem } = options
  let followed = 0
  let last = Promise.resolve()
  const answer = async ({ ask, offsetMs }: TravelQuestion) => {
    passingTime.moveTo(offsetMs)
    // Several services of one process share its time. Each must handle the move.
    if (offsetMs !== followed) await traveller.moved()
    followed = offsetMs
    const { nextInMs } = passingTime
    const given: TravelAnswer = { ask, ...traveller.work(), nextInMs }
    await redis.publish(travelAnswers(id), JSON.stringify(given))
  }
  const subscribe = async () => {
    await subscriber.subscribe(travelQuestions(id))
    passingTime.moveTo(await readTravelOffset(redis))
  }
  subscriber.on('message', (channel: string, text: string) => {
    if (channel !== travelQuestions(id)) return
    last = last.then(() => answer(JSON.parse(text) as TravelQuestion)).catch(onProblem)
  })
  const subscribeAgain = () => subscribe().catch(onProblem)
  subscriber.on('ready', () => void subscribeAgain())
  if (subscriber.status === 'ready') await subscribeAgain()
}
