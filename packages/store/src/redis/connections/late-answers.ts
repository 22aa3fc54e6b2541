/**
 * Timeouts that do not blame Redis for a process that stood still.
 *
 * Node runs due timers before it reads sockets. After a pause that is longer than a timeout (a suspended machine, a
 * core without free time, a long garbage collection), ioredis would give up on answers that have already arrived. Here
 * each of its two timeouts lets the event loop read the sockets first. ioredis offers no option for that.
 */
import { Command, Redis } from 'ioredis'

/** The members of ioredis's `Command` that belong to its timeout. */
interface TimedCommand {
  _commandTimeoutTimer?: NodeJS.Timeout
  isSettled: boolean
  reject(error: Error): void
  setTimeout(milliseconds: number): void
}

/** The members of ioredis's `Redis` that belong to the timeout of a silent connection. */
interface TimedConnection {
  options: { socketTimeout: number }
  stream: NodeJS.EventEmitter & { destroy(error: Error): void }
  commandQueue: { length: number }
  socketTimeoutTimer: NodeJS.Timeout | undefined
  setSocketTimeout(): void
}

/** Changes the timeouts of all connections of this process, those of BullMQ included. */
export function readBeforeTimeouts(): void {
  Object.assign(Command.prototype, { setTimeout: setCommandTimeout })
  Object.assign(Redis.prototype, { setSocketTimeout })
}

function setCommandTimeout(this: TimedCommand, milliseconds: number): void {
  this._commandTimeoutTimer ??= setTimeout(() => setImmediate(failUnanswered, this), milliseconds)
}

function failUnanswered(command: TimedCommand): void {
  if (!command.isSettled) command.reject(new Error('Command timed out'))
}

function setSocketTimeout(this: TimedConnection): void {
  const { stream } = this
  const milliseconds = this.options.socketTimeout
  const replaceSilent = () => {
    if (this.socketTimeoutTimer !== timer) return
    this.socketTimeoutTimer = undefined
    stream.destroy(new Error(`an answer was due, and nothing came for ${milliseconds} ms`))
  }
  const timer = setTimeout(() => setImmediate(replaceSilent), milliseconds)
  this.socketTimeoutTimer = timer
  stream.once('data', () => {
    clearTimeout(timer)
    this.socketTimeoutTimer = undefined
    if (this.commandQueue.length > 0) this.setSocketTimeout()
  })
}
