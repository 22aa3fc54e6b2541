/**
 * Connections. A command is sent once and fails soon: nothing is queued while Redis is away and nothing is sent again
 * after a lost reply (a resent publish would be stored twice), so every caller decides what a failure means.
 * Reconnecting goes on for ever, 50 ms to 2 s apart, with one log line per change of state.
 */
import { Redis, type RedisOptions } from 'ioredis'

export const COMMAND_TIMEOUT_MS = 1_500
/**
 * A connection on which an answer is due and nothing comes for so long is given up for a new one. A peer that vanished
 * without a word (a lost network path, a host that died) would else keep it open for a quarter of an hour.
 */
export const SILENCE_MS_MAX = 2_000

export interface ConnectOptions {
  url: string
  /** Shown by CLIENT LIST. */
  name: string
  /** null for connections whose commands may block (BullMQ workers, subscribers). */
  commandTimeoutMs?: number | null
  onState?: (state: 'up' | 'down', error: Error | undefined) => void
}

/** Pause before reconnecting: 100 ms, doubling to 2 s. */
export function retryStrategy(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 6), 2_000)
}

/** A master that became a replica: look for the new one. */
export function reconnectOnError(error: Error): boolean {
  return error.message.startsWith('READONLY')
}

/** Options of every ioredis connection of ours, BullMQ's included. */
export function redisOptions(options: ConnectOptions): RedisOptions {
  const timeout = options.commandTimeoutMs === undefined ? COMMAND_TIMEOUT_MS : options.commandTimeoutMs
  return {
    connectionName: options.name,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    socketTimeout: SILENCE_MS_MAX,
    retryStrategy,
    reconnectOnError,
    ...(timeout === null ? {} : { commandTimeout: timeout }),
  }
}

/** A connection that is being made; `onState` tells each change, errors between changes are the callers' own. */
export function connect(options: ConnectOptions): Redis {
  const redis = new Redis(options.url, redisOptions(options))
  let state: 'up' | 'down' | undefined
  let lastError: Error | undefined
  const tell = (next: 'up' | 'down') => {
    if (state === next) return
    state = next
    options.onState?.(next, next === 'down' ? lastError : undefined)
  }
  redis.on('error', (error: Error) => {
    lastError = error
    tell('down')
  })
  redis.on('ready', () => tell('up'))
  redis.on('close', () => tell('down'))
  return redis
}

/** Resolves at the first moment the connection can be used. */
export async function whenReady(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()))
}
