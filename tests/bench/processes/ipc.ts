/** Questions of the benchmark to its own processes over their IPC channel, one at a time, and their answers. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export interface LoadOptions {
  port: number
  /** They are used in turn. */
  paths: string[]
  connections: number
  durationMs: number
  /** Publishing ends early after this number of requests. */
  requestsMax: number
  bodyBytes: number
  /** Each message is an object of this event type. Absent: a text. */
  eventType?: string
  /** Messages in a request. If it is absent, each request publishes one message by its own route. */
  batch?: number
}

/** Requests are sent at a fixed rate per second, without waiting for earlier answers. */
export interface PaceOptions {
  port: number
  /** They are used in turn. */
  paths: string[]
  connections: number
  requestsPerSecond: number
  durationMs: number
  bodyBytes: number
}

export interface PaceResult {
  /** Per message number: when it was sent, or when it was due if every connection was in use. */
  sentAt: number[]
  refused: number
}

/** Times use the clock that all processes share (monotonic.ts). */
export interface LoadResult {
  /** Requests answered 2xx. */
  accepted: number
  refused: number
  startedAt: number
  endedAt: number
  p50Ms: number
  p99Ms: number
}

export interface Arrived {
  total: number
  /** Different messages, counted for each path. */
  distinct: number
  lastAt: number
}

type Handlers = Record<string, (argument: never) => unknown>
type Reply = { value: unknown } | { error: string }

/** Answers each question with its handler's result. The process ends on request, or with its parent. */
export function answer(handlers: Handlers, close: () => Promise<void> = async () => undefined): void {
  const stop = () => void close().finally(() => process.exit(0))
  process.once('disconnect', stop)
  process.once('SIGTERM', stop)
  // The terminal sends the signal to all processes at once, but the bench ends its processes itself.
  process.on('SIGINT', () => undefined)
  process.on('message', ({ op, argument }: { op: string; argument: never }) => {
    void reply(handlers, op, argument).then((message) => process.send?.(message))
  })
  process.send?.({ value: 'ready' } satisfies Reply)
}

async function reply(handlers: Handlers, op: string, argument: never): Promise<Reply> {
  try {
    const handler = handlers[op]
    if (!handler) throw new Error(`no such question: ${op}`)
    return { value: await handler(argument) }
  } catch (error) {
    return { error: String(error) }
  }
}

/** Resolves when the process answers questions. */
export async function whenAnswering(child: ChildProcess): Promise<void> {
  await nextReply(child)
}

export async function ask<T>(child: ChildProcess, op: string, argument: unknown = {}): Promise<T> {
  const replied = nextReply(child)
  child.send({ op, argument })
  return (await replied) as T
}

/** Never resolves if the process ends, because that also ends the bench (children.ts). */
async function nextReply(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [Reply]
  if ('error' in message) throw new Error(message.error)
  return message.value
}
