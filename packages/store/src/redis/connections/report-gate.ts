/**
 * Keeps a process from Redis while it does not know whether it may still use the data.
 *
 *   open ── the latest report is too old ──▶ closed ── a report is answered ──▶ open
 *                                              └── it fails ──▶ the waiting commands fail
 *
 * The gate of a service is closed from its start until its first report. Later it closes if the process was frozen or
 * cut off for so long that something may have taken effect without it (processes.ts). Then the first command asks for a
 * report, and all wait until it is answered. Commands without keys, reads of the format and the reports themselves
 * always pass, except in a pipeline. The gate of a process without reports, such as a command or a test, is always
 * open.
 */
import { type Command, Redis } from 'ioredis'
import { dataFormatKey, PROCESSES_BASE } from '../../keys/keys.ts'

/** A time of performance.now(). */
let closesAt = Number.POSITIVE_INFINITY
let askForReport: Ask = () => Promise.resolve()

/**
 * Sends a report and, if it succeeds, calls `openGate`. Rejects if commands of this connection must not be sent. It may
 * read the format of the data by this connection.
 */
type Ask = (connection: Redis) => Promise<unknown>

export function closeGate(ask: Ask): void {
  closesAt = Number.NEGATIVE_INFINITY
  askForReport = ask
}

/** Opens it until this time of performance.now(). */
export function openGate(untilMs: number): void {
  closesAt = untilMs
}

/** Commands that use no data. */
const KEYLESS = new Set(
  (
    'asking auth client cluster command config dbsize hello info ping psubscribe punsubscribe quit readonly readwrite ' +
    'role select sentinel subscribe time unsubscribe'
  ).split(' '),
)

const { sendCommand } = Redis.prototype

/** Applies to all connections of this process, those of BullMQ included. ioredis has no option for that. */
export function guardCommands(): void {
  Object.assign(Redis.prototype, { sendCommand: sendWhenOpen })
}

type Send = Parameters<typeof sendCommand>

/** Resolves when the commands of the pipeline that is being sent may go. undefined: they go at once. */
let pipeline: { stream: NonNullable<Send[1]>; asked: Promise<unknown> | undefined } | undefined

function sendWhenOpen(this: Redis, command: Send[0], stream?: Send[1]): unknown {
  // A connection that is not ready refuses or queues the command itself.
  if (this.status !== 'ready') return sendCommand.call(this, command, stream)
  const asked = stream ? askForPipeline(this, stream) : askForCommand(this, command)
  if (!asked) return sendCommand.call(this, command, stream)
  // It returns nothing, because a second promise of the command would be an unhandled rejection if the command fails.
  const send = () => {
    sendCommand.call(this, command, stream)
  }
  asked.then(send, (error: Error) => command.reject(error))
  return command.promise
}

function askForCommand(connection: Redis, command: Command): Promise<unknown> | undefined {
  return performance.now() < closesAt || passes(command) ? undefined : askForReport(connection)
}

/**
 * ioredis sends the commands of a pipeline one after the other, expects their replies in this order, and writes all of
 * them with the last one. If some waited and others did not, they would get the replies of other commands.
 */
function askForPipeline(connection: Redis, stream: NonNullable<Send[1]>): Promise<unknown> | undefined {
  if (pipeline?.stream !== stream) {
    pipeline = { stream, asked: performance.now() < closesAt ? undefined : askForReport(connection) }
    queueMicrotask(forgetPipeline)
  }
  return pipeline.asked
}

/** All its commands have been sent or wait. */
function forgetPipeline(): void {
  pipeline = undefined
}

/** The first key of a script is its third argument. */
function passes({ name: given, args }: Command): boolean {
  const name = given.toLowerCase()
  if (name === 'get') return String(args[0]) === dataFormatKey()
  return KEYLESS.has(name) || (name.startsWith('eval') && String(args[2]) === PROCESSES_BASE)
}
