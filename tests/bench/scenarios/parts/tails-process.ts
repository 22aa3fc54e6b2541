/** Listeners to live events, each on a connection of its own. They count events, and do not parse them. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { answer } from '../../processes/ipc.ts'

export interface TailsOptions {
  port: number
  count: number
  /** Events a second that each of them requests at most. */
  max: number
}

export interface TailsResult {
  /** Events of each listener, without `state` and `gap`. */
  events: number[]
  /** From the first connection until the end. */
  seconds: number
}

interface Tail {
  socket: Socket
  events: number
  isLive: boolean
  /** The end of the last chunk, in which the beginning of a line may stand. */
  rest: string
}

const LIVE_AFTER_MS_MAX = 20_000
const tails: Tail[] = []
let openedAt = 0

async function open({ port, count, max }: TailsOptions): Promise<void> {
  openedAt = performance.now()
  tails.push(...(await Promise.all(Array.from({ length: count }, () => openOne(port, max)))))
  while (!tails.every(({ isLive }) => isLive)) {
    if (performance.now() - openedAt > LIVE_AFTER_MS_MAX) throw new Error('a listener did not get live')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function openOne(port: number, max: number): Promise<Tail> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  const tail: Tail = { socket, events: 0, isLive: false, rest: '' }
  socket.on('data', (chunk) => count(tail, chunk.toString('latin1')))
  // The bench ends the API only after the listeners.
  socket.on('error', () => socket.destroy())
  socket.write(`GET /v1/events?max=${max} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  return tail
}

const NAME = '\nevent: '
/** Longer than the longest name of an event. */
const LINE_CHARS_MAX = 32

function count(tail: Tail, chunk: string): void {
  const text = tail.rest + chunk
  let at = text.indexOf(NAME)
  let from = 0
  for (; at >= 0 && at + LINE_CHARS_MAX <= text.length; at = text.indexOf(NAME, from)) {
    from = at + NAME.length
    const name = text.slice(from, text.indexOf('\n', from))
    if (name === 'state') tail.isLive ||= text.startsWith('{"live":true', from + 'state\ndata: '.length)
    else if (name !== 'gap') tail.events++
  }
  tail.rest = at >= 0 ? text.slice(at) : text.slice(Math.max(from, text.length - NAME.length))
}

function close(): TailsResult {
  const closed = tails.splice(0)
  for (const { socket } of closed) socket.destroy()
  return { events: closed.map(({ events }) => events), seconds: (performance.now() - openedAt) / 1_000 }
}

answer({ open, close })
