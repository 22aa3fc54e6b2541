/** Writes live events as lines of text. */
import type { EventGap } from '@fantail/client'
import type { DeliveryEvent } from '@fantail/client/api'
import { printable } from '@fantail/policy'
import { durationText } from '../../output/durations.ts'
import type { Output, Style } from '../../output/output.ts'

const STYLES: Partial<Record<DeliveryEvent['type'], Style>> = {
  delivered: 'green',
  deadLettered: 'red',
  discarded: 'red',
  expired: 'red',
}
const TYPE_WIDTH = 'deadLettered'.length

export function eventLine(event: DeliveryEvent, out: Pick<Output, 'style'>): string {
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

export function gapText({ dropped, why }: EventGap): string {
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

function followsText({ decision, nextAttemptAt, at, because }: DeliveryEvent): string | undefined {
  const cause = because == null ? '' : ` (${because})`
  if (nextAttemptAt != null)
    return `retry in ${durationText(Date.parse(nextAttemptAt) - Date.parse(at))}${cause}`
  if (decision !== undefined && decision !== 'delivered') return `${decision}${cause}`
  return because == null ? undefined : because
}
