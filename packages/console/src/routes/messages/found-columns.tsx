/** The columns of a search's result. */
import { Link } from '@tanstack/react-router'
import type { MessageSearch } from '../../api/api-types.ts'
import { words } from '../../i18n/en.ts'
import type { Column } from '../../parts/data-table.tsx'
import { formatNumber } from '../../parts/formats.ts'
import { TopicLink } from '../../parts/links/arn-link.tsx'
import css from '../../parts/parts.module.css'
import { Badge, type Tone, When } from '../../parts/show.tsx'

type Row = MessageSearch['messages'][number]
type State = keyof Row['counts']

const w = words.messages

const TONES: Record<State, Tone> = {
  delivered: 'good',
  parked: 'warn',
  deadLettered: 'bad',
  discarded: 'bad',
  expired: 'bad',
  filtered: undefined,
}

export const FOUND_COLUMNS: readonly Column<Row>[] = [
  { title: w.latest, show: ({ at }) => <When at={at} /> },
  {
    title: w.message,
    show: ({ messageId }) => (
      <Link to="/messages/$id" params={{ id: messageId }} data-row className="mono">
        {messageId}
      </Link>
    ),
  },
  {
    title: words.pages.topic,
    show: ({ topicArn }) => (topicArn === null ? words.message.unknown : <TopicLink arn={topicArn} />),
  },
  { title: w.outcome, show: ({ counts }) => <Counts counts={counts} /> },
  { title: w.ends, show: ({ ends }) => <LatestEnd end={ends[0]} /> },
  { title: words.message.published, show: ({ publishedAt }) => <When at={publishedAt} /> },
]

function Counts({ counts }: { counts: Row['counts'] }) {
  const states = (Object.keys(TONES) as State[]).filter((state) => counts[state] > 0)
  if (states.length === 0) return <span className={css.quiet}>{w.nobody}</span>
  return states.map((state) => (
    <Badge key={state} tone={TONES[state]}>
      {w.count(formatNumber(counts[state]), w.states[state])}
    </Badge>
  ))
}

function LatestEnd({ end }: { end: Row['ends'][number] | undefined }) {
  if (!end) return '–'
  const answer = end.statusCode ?? end.error
  const text = [w.states[end.outcome], answer, w.attemptsMade(end.attempts)].filter(Boolean).join(', ')
  if (end.subscriptionId === null) return text
  return (
    <Link to="/subs/$id" params={{ id: end.subscriptionId }}>
      {text}
    </Link>
  )
}
