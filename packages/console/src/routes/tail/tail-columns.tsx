/** The columns of live events. A gap has a row among the events. */
import type { EventGap } from '@fantail/client'
import type { DeliveryEvent } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { words } from '../../i18n/en.ts'
import type { TailRow } from '../../live/live-tail.ts'
import type { Column } from '../../parts/data-table.tsx'
import { formatSeconds } from '../../parts/formats.ts'
import { SubscriptionLink, TopicLink } from '../../parts/links.tsx'
import css from '../../parts/parts.module.css'
import { Badge, type Tone } from '../../parts/show.tsx'

const w = words.tail

const TONES: Record<DeliveryEvent['type'], Tone> = {
  published: undefined,
  attempt: undefined,
  parked: 'warn',
  delivered: 'good',
  deadLettered: 'bad',
  discarded: 'bad',
  expired: 'bad',
  redriven: undefined,
  changed: undefined,
}

/** Ids of one time begin alike, so a row shows the end. */
const ID_END_CHARS = 12

const ofEvent = (show: (event: DeliveryEvent) => ReactNode) => (row: TailRow) =>
  'event' in row ? show(row.event) : null

export const TAIL_COLUMNS: readonly Column<TailRow>[] = [
  { title: w.time, show: (row) => <Time at={'event' in row ? row.event.at : row.gap.to} /> },
  {
    title: w.what,
    show: (row) =>
      'gap' in row ? (
        <Badge tone="warn">{gapText(row.gap)}</Badge>
      ) : (
        <Badge tone={toneOf(row.event)}>{w.types[row.event.type]}</Badge>
      ),
  },
  { title: w.answer, show: ofEvent(({ statusCode, error }) => statusCode ?? error ?? '') },
  {
    title: w.took,
    show: ofEvent(({ durationMs }) => (durationMs === undefined ? '' : w.ms(durationMs))),
    isNumber: true,
  },
  {
    title: words.pages.topic,
    show: ofEvent(({ topicArn }) => topicArn && <TopicLink arn={topicArn} />),
  },
  {
    title: words.topic.endpoint,
    show: ofEvent(({ endpoint, subscriptionId, subscriptionName }) =>
      subscriptionId == null ? (
        endpoint
      ) : (
        <SubscriptionLink id={subscriptionId} name={subscriptionName} endpoint={endpoint} />
      ),
    ),
  },
  { title: w.attempts, show: ofEvent(({ attempts }) => attempts ?? ''), isNumber: true },
  { title: w.follows, show: ofEvent(followsText) },
  {
    title: words.messages.message,
    show: ofEvent(({ messageId }) =>
      messageId === undefined ? null : (
        <Link
          to="/messages/$id"
          params={{ id: messageId }}
          title={messageId}
          data-row
          className={`mono ${css.oneLine}`}
        >
          …{messageId.slice(-ID_END_CHARS)}
        </Link>
      ),
    ),
  },
]

function toneOf({ type, decision }: DeliveryEvent): Tone {
  if (decision === undefined || decision === 'delivered') return TONES[type]
  return 'warn'
}

function gapText({ dropped, why }: EventGap): string {
  return w.gaps[why](dropped === null ? w.unknownNumber : w.events(dropped))
}

function followsText({ decision, nextAttemptAt, at, cause: decided }: DeliveryEvent): string {
  const cause = decided ?? ''
  if (nextAttemptAt != null) {
    return w.retryIn(formatSeconds((Date.parse(nextAttemptAt) - Date.parse(at)) / 1_000), cause)
  }
  return [decision === 'delivered' ? undefined : decision, cause].filter(Boolean).join(' · ')
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** The local time with milliseconds. It never changes, so a thousand rows need no updates. */
function Time({ at }: { at: string }) {
  const time = new Date(at)
  const ms = String(time.getMilliseconds()).padStart(3, '0')
  return (
    <time dateTime={at} title={at} className="mono">
      {`${clock.format(time)}.${ms}`}
    </time>
  )
}
