/** `fantail tail` shows attempts and ends of deliveries as they happen. */
import { type EventGap, Fantail, FantailError, type LiveEvent } from '@fantail/client'
import type { DeliveryEvent } from '@fantail/client/api'
import { printable } from '@fantail/policy'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { readWhole } from '../../frame/command-input.ts'
import { durationText, timeOf } from '../../output/durations.ts'
import { ApiRefusal, Unreachable } from '../../output/exit-codes.ts'
import type { Output, Style } from '../../output/output.ts'

interface TailFlags {
  sub?: string
  type?: string
  status?: string
  since?: string
  after?: string
  max: string
  count?: string
}

export const tail: Define = (command, does) => {
  command
    .argument('[topic]', 'only this topic')
    .option('--sub <id>', 'only this subscription')
    .option('--type <types>', 'only these types, by commas: published, attempt, delivered, deadLettered …')
    .option('--status <statuses>', 'only these statuses, by commas: 503, 5xx, none')
    .option('--since <time>', 'ends of deliveries from this time on, or from so long ago (10m)')
    .option('--after <id>', 'ends behind the `id` of an earlier line of --json')
    .option('--max <n>', 'lines a second at most; the others are counted', '200')
    .option('--count <n>', 'ends after so many lines; default: goes on until Ctrl-C')
    .action(does(tailEvents))
  examples(
    command,
    'tail orders --status 5xx',
    'tail --type deadLettered,expired --since 10m --json',
    'tail --count 1',
  )
}

async function tailEvents(
  context: CommandContext,
  topic: string | undefined,
  flags: TailFlags,
): Promise<void> {
  const { url, apiKey } = await context.server()
  const { sub: subscription, status: statusCode, type, since, after: lastEventId } = flags
  const countMax = flags.count === undefined ? Number.POSITIVE_INFINITY : readWhole(flags.count, '--count', 1)
  const events = new Fantail({ url, ...(apiKey !== undefined && { apiKey }) }).events({
    ...(topic !== undefined && { topic }),
    ...(subscription !== undefined && { subscription }),
    ...(type !== undefined && { type: type as 'attempt' }),
    ...(statusCode !== undefined && { statusCode }),
    ...(since !== undefined && { since: timeOf(since, '--since') }),
    ...{ max: readWhole(flags.max, '--max', 1), lastEventId, signal: context.signal },
  })
  const show = showing(context)
  let count = 0
  try {
    for await (const event of events) if (show(event) && ++count >= countMax) return
  } catch (error) {
    throw failureOf(error, url)
  }
}

/** Prints an event or the state of the stream. Returns true for an event. */
function showing({ out }: CommandContext): (event: LiveEvent) => boolean {
  let wasLive: boolean | undefined
  let lostAt: number | undefined
  const show = (event: LiveEvent): boolean => {
    switch (event.name) {
      case 'state': {
        const { live, ends } = event.data
        if (live === wasLive) return false
        const since = lostAt === undefined ? '' : ` again, after ${durationText(performance.now() - lostAt)}`
        out.note(
          live ? `live${since}${ends ? '' : '; the server keeps no outcome log, so no ends come'}` : 'stale',
        )
        wasLive = live
        if (live) lostAt = undefined
        return false
      }
      case 'lost':
        // The server has never answered, so the command ends instead of waiting for it.
        if (wasLive === undefined) throw event.data.error
        if (lostAt === undefined) out.warn('connection lost; ends of deliveries go on behind the last one')
        lostAt ??= performance.now()
        wasLive = false
        return false
      case 'end':
        return false
      case 'gap':
        if (out.json) out.line(JSON.stringify({ type: 'gap', ...event.data }))
        else out.warn(gapText(event.data))
        return false
      default:
        out.item(
          { ...event.data, id: event.id ?? null },
          () => eventLine(event.data, out),
          event.data.messageId,
        )
        return true
    }
  }
  return show
}

/** Failures of the client, with the exit codes of every command. */
function failureOf(error: unknown, url: string): unknown {
  if (!(error instanceof FantailError)) return error
  const { status, code, message, details = [], requestId } = error
  if (status !== undefined) return new ApiRefusal(status, { code, message, details, requestId })
  return code === 'network' || code === 'timeout'
    ? new Unreachable(`${url} does not answer: ${message}`)
    : error
}

const STYLES: Partial<Record<DeliveryEvent['type'], Style>> = {
  delivered: 'green',
  deadLettered: 'red',
  discarded: 'red',
  expired: 'red',
}
const TYPE_WIDTH = 'deadLettered'.length

function eventLine(event: DeliveryEvent, out: Pick<Output, 'style'>): string {
  const { type, at, topicArn, endpoint, messageId } = event
  const parts = [
    timeText(at),
    out.style(styleOf(event), type.padEnd(TYPE_WIDTH)),
    printable(answerText(event)).padEnd(3),
    event.durationMs === undefined ? undefined : durationText(event.durationMs),
    printable([topicArn?.split(':').at(-1), endpoint].filter((one) => one != null).join(' → ')),
    event.attempts === undefined ? undefined : `a${event.attempts}`,
    messageId,
    followsText(event),
  ]
  return parts.filter((part) => part !== undefined && part !== '').join('  ')
}

function gapText({ dropped, why }: EventGap): string {
  const what = dropped === null ? 'some events' : `${dropped} ${dropped === 1 ? 'event' : 'events'}`
  return `-- ${what} left out: ${WHY[why]} --`
}

const WHY: Record<EventGap['why'], string> = {
  rate: 'more came in a second than --max allows',
  lag: 'they came faster than they were read',
  trimmed: 'the outcome log no longer has them',
  reconnect: 'attempts while the connection was lost are stored nowhere',
}

/** Local time with milliseconds. */
function timeText(at: string): string {
  const date = new Date(at)
  const [hours, minutes, seconds] = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits)
  return `${hours}:${minutes}:${seconds}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

const twoDigits = (number: number) => String(number).padStart(2, '0')

function styleOf({ type, decision }: DeliveryEvent): Style {
  if (decision !== undefined && decision !== 'delivered') return 'yellow'
  return STYLES[type] ?? 'dim'
}

function answerText({ statusCode, error }: DeliveryEvent): string {
  return statusCode != null ? String(statusCode) : (error ?? '')
}

function followsText({ decision, nextAttemptAt, at, cause: decided }: DeliveryEvent): string | undefined {
  const cause = decided == null ? '' : ` (${decided})`
  if (nextAttemptAt != null)
    return `retry in ${durationText(Date.parse(nextAttemptAt) - Date.parse(at))}${cause}`
  if (decision !== undefined && decision !== 'delivered') return `${decision}${cause}`
  return decided == null ? undefined : decided
}
