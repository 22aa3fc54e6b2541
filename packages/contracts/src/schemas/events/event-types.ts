/** Types of live events: messages and deliveries as they change. */

/** Read from the outcome log. After a new connection, a listener continues after the last event that it got. */
export const LOGGED_EVENTS = ['parked', 'delivered', 'deadLettered', 'discarded', 'expired'] as const

/** Sent only while a listener is connected, and never stored. */
export const UNLOGGED_EVENTS = ['published', 'attempt', 'redriven', 'changed'] as const
export type UnloggedEventType = (typeof UNLOGGED_EVENTS)[number]

export const EVENT_TYPES = [...LOGGED_EVENTS, ...UNLOGGED_EVENTS] as const
export type EventType = (typeof EVENT_TYPES)[number]

/**
 * Why events are missing from a stream. rate: more came in a second than `max` allows. lag: the listener reads too
 * slowly, or Redis was away. trimmed: the outcome log no longer has them. reconnect: they came while the listener was
 * not connected, and are not stored.
 */
export type GapCause = 'rate' | 'lag' | 'trimmed' | 'reconnect'

/**
 * Why a stream ended. stopping: the server stops. revoked: the key or session has ended, or may no longer see the
 * events. slow: nothing was read for a minute.
 */
export type EndOfEvents = 'stopping' | 'revoked' | 'slow'
