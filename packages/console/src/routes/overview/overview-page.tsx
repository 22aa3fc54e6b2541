/**
 * The state of the whole service, and the problems that need attention. If nothing was ever published, the first start.
 */
import type { Overview, Readiness, Redrive } from '@fantail/client/api'
import { getRouteApi, Link } from '@tanstack/react-router'
import { callOf, operations } from '../../api/api-calls.ts'
import { useRead } from '../../api/use-api.ts'
import { StatsPanel } from '../../charts/stats-panel.tsx'
import { words } from '../../i18n/en.ts'
import { formatBytes, nameOf } from '../../parts/formats.ts'
import { SubscriptionLink } from '../../parts/links.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, Figure, Figures } from '../../parts/show.tsx'
import { Loaded } from '../../parts/states.tsx'
import { VerdictBadge } from '../lanes/lane-flow.tsx'
import { FirstStart } from './first-start.tsx'

const w = words.overview
const route = getRouteApi('/')
const ACTIVE = { query: { status: 'running', limit: 100 } } as const

export function OverviewPage() {
  const { range } = route.useSearch()
  const read = useRead(operations.getOverview, {})
  const topics = useRead(operations.listTopics, { query: { limit: 2 } })
  const redrives = useRead(operations.listRedrives, ACTIVE)
  const readiness = useRead(operations.getReadiness, {})
  const isFirst = topics.data?.topics.every(({ name }) => name === 'hello') === true
  return (
    <>
      <PageHead title={words.pages.overview} request={callOf(operations.getOverview, {})} />
      <Loaded read={read}>
        {(overview) => (
          <div className={css.stack}>
            <div className={css.panel}>
              <Totals overview={overview} />
              {!overview.complete && <p className={css.quiet}>{words.lanes.incomplete}</p>}
            </div>
            {isFirst && <FirstStart />}
            <NeedsYou
              overview={overview}
              redrives={redrives.data?.redrives ?? []}
              degraded={readiness.data?.degraded ?? []}
            />
            <StatsPanel range={range} />
            <p className={`${css.quiet} ${css.small}`}>{w.version(overview.version, overview.commit)}</p>
          </div>
        )}
      </Loaded>
    </>
  )
}

function Totals({ overview }: { overview: Overview }) {
  const { memory } = overview
  return (
    <Figures>
      <Figure label={w.topics} value={overview.topics} />
      <Figure label={w.subscriptions} value={overview.subscriptions} />
      <Figure label={w.queues} value={overview.queues} />
      <Figure label={words.topic.waiting} value={overview.waiting} />
      <Figure label={words.subscription.inFlight} value={overview.inFlight} />
      <Figure label={w.lanes} value={overview.inNeed} />
      <Figure label={w.deadLetters} value={overview.deadLetters} />
      <Figure label={w.redrives} value={overview.activeRedrives} />
      {memory && (
        <Figure
          label={w.memory}
          value={formatBytes(memory.usedBytes)}
          note={
            memory.watermarkBytes === null ? undefined : w.refusedFrom(formatBytes(memory.watermarkBytes))
          }
        />
      )}
    </Figures>
  )
}

interface Needs {
  overview: Overview
  redrives: Redrive[]
  degraded: Readiness['degraded']
}

/** One lane leads to its subscription, and several of a host lead to the board of these lanes. */
function ProblemLine({
  problem: { host, lanes, waiting, worst },
}: {
  problem: Overview['problems'][number]
}) {
  const { subscriptionId, topicArn, endpoint, name, verdict } = worst
  const { blockedGroup, blockingMessageId } = verdict.facts
  const isBlocked = lanes === 1 && blockingMessageId !== null && verdict.code !== 'groupBlocked'
  return (
    <li>
      <VerdictBadge verdict={verdict} />{' '}
      {lanes === 1 ? (
        <>
          <SubscriptionLink id={subscriptionId} name={name} endpoint={endpoint} />{' '}
          <span className={css.quiet}>{words.subscriptionOf(nameOf(topicArn))}: </span>
        </>
      ) : (
        <>
          <Link to="/lanes" search={{ state: verdict.code, host }}>
            {w.lanesOf(lanes, host)}
          </Link>{' '}
          <span className={css.quiet}>{w.waitingIn(waiting)} </span>
        </>
      )}
      <span className={css.quiet}>
        {verdict.sentence}
        {isBlocked && ` ${words.remedy.blockedGroup(blockedGroup ?? '')} ${blockingMessageId}.`}
      </span>
    </li>
  )
}

function NeedsYou({ overview, redrives, degraded }: Needs) {
  const { problems, inNeed, fullest } = overview
  const letters = fullest.filter(({ deadLetters }) => deadLetters > 0)
  const isQuiet = problems.length + letters.length + redrives.length + degraded.length === 0
  const isMore = inNeed > problems.reduce((sum, { lanes }) => sum + lanes, 0)
  return (
    <section className={css.panel}>
      <h2>{w.needsYou}</h2>
      {isQuiet && <p className={css.quiet}>{w.nothing}</p>}
      <ul className={css.stack}>
        {degraded.map(({ reason, message }) => (
          <li key={reason}>
            <Badge tone="bad">{reason}</Badge> {message}
          </li>
        ))}
        {problems.map((problem) => (
          <ProblemLine key={`${problem.worst.verdict.code} ${problem.host}`} problem={problem} />
        ))}
        {isMore && (
          <li>
            <Link to="/lanes" search={{ state: 'inNeed' }}>
              {w.moreLanes(inNeed)}
            </Link>
          </li>
        )}
        {letters.map(({ queueArn, deadLetters }) => (
          <li key={queueArn}>
            <Badge tone="warn">{words.pages.deadLetters}</Badge>{' '}
            <Link to="/dlq/$queue" params={{ queue: nameOf(queueArn) }}>
              {w.lettersIn(deadLetters, nameOf(queueArn))}
            </Link>
          </li>
        ))}
        {redrives.map(({ id, source, moved, matched }) => (
          <li key={id}>
            <Badge>{words.pages.redrive}</Badge>{' '}
            <Link to="/redrives/$id" params={{ id }}>
              {w.redriveOf(nameOf(source), matched === 0 ? 100 : Math.round((moved / matched) * 100))}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
