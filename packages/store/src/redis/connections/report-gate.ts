/**
 * Keeps a process from Redis while it does not know whether it may still use the data.
 *
 *   open ── the latest report is too old ──▶ closed ── a report is answered ──▶ open
 *                                              └── it fails ──▶ the waiting commands fail
 *
 * The gate of a service is closed from its start until its first report. Later it closes if the process was frozen or
 * cut off for so long that something may have taken effect without it (processes.ts). Then the first command asks for a
 * report, and all wait until it is answered. Commands without keys, and the reports themselves, always pass. The gate
 * of a process without reports, such as a command or a test, is always open.
 *
 * A pipeline passes or waits as a whole. ioredis expects its replies from the first command on, but writes nothing
 * before the last one. A report in between would get the reply of another command.
 */
import { type Command, Redis } from 'ioredis'
import { PROCESSES_BASE } from '../../keys/keys.ts'

/** A time of performance.now(). */
let closesAt = Number.POSITIVE_INFINITY
let askForReport: () => Promise<unknown> = () => Promise.resolve()

/** `ask` sends a report and, if it succeeds, calls `openGate`. */
export function closeGate(ask: () => Promise<unknown>): void {
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

/** The pipeline of the latest command that has passed. */
let passedPipeline: Send[1]

function sendWhenOpen(this: Redis, command: Send[0], stream?: Send[1]): unknown {
  // A connection that is not ready refuses or queues the command itself.
  if (this.status !== 'ready') return sendCommand.call(this, command, stream)
  if (performance.now() < closesAt || passes(command, stream)) {
    passedPipeline = stream
    return sendCommand.call(this, command, stream)
  }
  askForReport().then(
    () => sendCommand.call(this, command, stream),
    (error: Error) => command.reject(error),
  )
  return command.promise
}

/** The first key of a script is its third argument. */
function passes({ name: given, args }: Command, pipeline: Send[1]): boolean {
  if (pipeline) return pipeline === passedPipeline
  const name = given.toLowerCase()
  return KEYLESS.has(name) || (name.startsWith('eval') && String(args[2]) === PROCESSES_BASE)
}
