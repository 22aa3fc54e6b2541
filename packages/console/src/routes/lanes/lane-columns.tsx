/** The columns of the board of lanes: one row for each lane, or for each host. */
import type { Lane, LaneHost } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import { words } from '../../i18n/en.ts'
import type { Column } from '../../parts/data-table.tsx'
import { formatNumber, formatSeconds } from '../../parts/formats.ts'
import { SubscriptionLink, TopicLink } from '../../parts/links.tsx'
import { SteadyBox } from '../../parts/motion.tsx'
import css from '../../parts/parts.module.css'
import { Badge, When } from '../../parts/show.tsx'
import { drainText, type LaneRow, VerdictBadge } from './lane-flow.tsx'
import { LanePanelToggle } from './lane-quick-actions.tsx'

const w = words.lanes

const seconds = (value: number | null) => (value === null ? '–' : formatSeconds(value))

const FIGURES = [
  {
    title: words.topic.waiting,
    show: (row: Lane) => formatNumber(row.lane.waiting),
    isNumber: true,
    sort: 'waiting',
  },
  {
    title: words.topic.oldest,
    show: (row: Lane) => seconds(row.lane.oldestWaitingSeconds),
    isNumber: true,
    sort: 'oldest',
  },
  {
    title: words.subscription.inFlight,
    show: (row: Lane) => formatNumber(row.lane.inFlight),
    isNumber: true,
  },
  { title: words.subscription.rate, show: (row: Lane) => row.lane.rate ?? '–', isNumber: true },
  { title: words.subscription.drains, show: drainText, isNumber: true },
  { title: words.topic.next, show: (row: Lane) => <When at={row.lane.nextAttemptAt} isDue empty="–" /> },
] as const satisfies readonly Column<Lane>[]

export const columnsWith = (
  opened: string | undefined,
  open: (id: string | undefined) => void,
): readonly Column<LaneRow>[] => [
  {
    title: w.verdict,
    show: (row) => (
      <div className={css.verdict}>
        <RowVerdict row={row} isOpen={opened === row.subscriptionId} />{' '}
        <LanePanelToggle lane={row} isOpen={opened === row.subscriptionId} onOpen={open} />
      </div>
    ),
    sort: 'worst',
  },
  {
    title: words.topic.endpoint,
    show: (row) => (
      <>
        <SubscriptionLink id={row.subscriptionId} name={row.name} endpoint={row.endpoint} opensRow />
        <div
          className={`${css.quiet} ${css.small} ${css.cut}`}
          title={row.hasLeft ? undefined : row.verdict.sentence}
        >
          {opened === row.subscriptionId ? (
            <SteadyBox>{row.verdict.sentence}</SteadyBox>
          ) : row.hasLeft ? (
            w.leftWhy
          ) : (
            row.verdict.sentence
          )}
        </div>
      </>
    ),
  },
  {
    title: words.pages.topic,
    show: ({ topicArn }) => <TopicLink arn={topicArn} />,
  },
  ...FIGURES.map(({ show, ...column }) => ({
    ...column,
    show: (row: LaneRow) => (row.hasLeft && opened !== row.subscriptionId ? '–' : show(row)),
  })),
]

/** A row that has left the list has no fresh verdict, unless its panel is open. */
function RowVerdict({ row: { hasLeft, verdict }, isOpen }: { row: LaneRow; isOpen: boolean }) {
  return (
    <>
      {(!hasLeft || isOpen) && <VerdictBadge verdict={verdict} />} {hasLeft && <Badge>{w.left}</Badge>}
    </>
  )
}

export const HOSTS: readonly Column<LaneHost>[] = [
  { title: w.verdict, show: ({ verdict }) => <VerdictBadge verdict={verdict} /> },
  {
    title: w.host,
    show: ({ host, verdict }) => (
      <>
        <Link to="/lanes" search={{ host }} data-row>
          {host}
        </Link>
        <div className={`${css.quiet} ${css.small}`}>{verdict.sentence}</div>
      </>
    ),
  },
  { title: words.pages.lanes, show: ({ lanes }) => formatNumber(lanes), isNumber: true },
  { title: w.inNeedCount, show: ({ inNeed }) => formatNumber(inNeed), isNumber: true },
  { title: words.topic.waiting, show: ({ waiting }) => formatNumber(waiting), isNumber: true },
  {
    title: words.topic.oldest,
    show: ({ oldestWaitingSeconds }) => seconds(oldestWaitingSeconds),
    isNumber: true,
  },
]
