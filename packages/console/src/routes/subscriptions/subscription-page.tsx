/** One subscription: the state of its deliveries, and all its settings. */
import type { Subscription } from '@fantail/client/api'
import { getRouteApi, Link } from '@tanstack/react-router'
import { callOf, operations } from '../../api/api-calls.ts'
import { ApiError } from '../../api/api-error.ts'
import { SCREEN_REFRESH_MS, useRead } from '../../api/use-api.ts'
import { StatsPanel } from '../../charts/stats-panel.tsx'
import { words } from '../../i18n/en.ts'
import { formatSeconds, nameOf } from '../../parts/formats.ts'
import { ArnLink, subscriptionLabel, TopicLink } from '../../parts/links.tsx'
import { PageHead, useTitle } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Figure, Figures, Pairs, When } from '../../parts/show.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { SubscriptionAttempts } from '../attempts/subscription-attempts.tsx'
import { LetterQueue } from '../lanes/dead-letters-link.tsx'
import { drainText, VerdictBadge } from '../lanes/lane-flow.tsx'
import { LaneRemedy } from '../lanes/lane-remedy.tsx'
import { FilterTester } from '../topics/filter-tester.tsx'
import { policyPairs } from '../topics/policy-pairs.ts'
import { DeletedSubscription } from './deleted-subscription.tsx'
import { LaneActions } from './lane-actions.tsx'
import { ActiveResend } from './resend-since.tsx'
import { SettingsForm } from './settings-form.tsx'
import { WebhookKeys } from './webhook-keys.tsx'

const w = words.subscription
const route = getRouteApi('/subs/$id')

export function SubscriptionPage() {
  const { id } = route.useParams()
  const { tab = 'standing', range } = route.useSearch()
  const navigate = route.useNavigate()
  const input = { path: { id } }
  const read = useRead(operations.getSubscription, input, { everyMs: SCREEN_REFRESH_MS })
  useTitle(read.data && subscriptionLabel(read.data), words.pages.subscription)
  if (read.error instanceof ApiError && read.error.status === 404) return <DeletedSubscription id={id} />
  return (
    <Loaded read={read} frame={<PageHead title={words.pages.subscription} />}>
      {(subscription) => (
        <>
          <PageHead
            title={subscriptionLabel(subscription)}
            above={<Above {...subscription} />}
            status={<VerdictBadge verdict={subscription.verdict} />}
            request={callOf(operations.getSubscription, input)}
          />
          <div className={css.stack}>
            <div className={css.panel}>
              <LaneFigures {...subscription} />
              <p className={css.quiet}>{subscription.verdict.sentence}</p>
            </div>
            <LaneRemedy key={subscription.id} subscription={subscription} />
            <LaneActions subscription={subscription} />
            <ActiveResend arn={subscription.arn} />
            <StatsPanel range={range} subscription={id} />
            <Tabs
              label={subscriptionLabel(subscription)}
              selected={tab}
              onSelect={(next) => void navigate({ search: { range, tab: next }, replace: true })}
              tabs={tabsOf(subscription)}
            />
          </div>
        </>
      )}
    </Loaded>
  )
}

function Above({ topicArn, name, endpoint }: Subscription) {
  return (
    <>
      <TopicLink arn={topicArn} /> → {name ? endpoint : words.pages.subscription}
    </>
  )
}

function LaneFigures({ lane, verdict }: Pick<Subscription, 'lane' | 'verdict'>) {
  const { oldestWaitingSeconds, drainUnknown } = lane
  return (
    <Figures>
      <Figure label={words.topic.waiting} value={lane.waiting} />
      <Figure label={w.inFlight} value={lane.inFlight} />
      <Figure
        label={words.topic.oldest}
        value={oldestWaitingSeconds === null ? '–' : formatSeconds(oldestWaitingSeconds)}
      />
      <Figure
        label={w.drains}
        value={drainText({ lane, verdict })}
        note={drainUnknown === null ? undefined : w.drainUnknown[drainUnknown]}
      />
      <Figure label={w.rate} value={lane.rate === null ? '–' : words.policy.perSecond(lane.rate)} />
      <Figure label={words.topic.next} value={<When at={lane.nextAttemptAt} isDue empty="–" />} />
    </Figures>
  )
}

const tabsOf = (subscription: Subscription) => [
  { id: 'standing', title: w.tabs.standing, content: <Standing subscription={subscription} /> },
  { id: 'attempts', title: w.tabs.attempts, content: <SubscriptionAttempts {...subscription} /> },
  { id: 'policy', title: w.tabs.policy, content: <Policy {...subscription} /> },
  { id: 'filter', title: w.tabs.filter, content: <Filter {...subscription} /> },
  ...(isWebhook(subscription)
    ? [
        { id: 'outbound', title: w.tabs.outbound, content: <Outbound {...subscription} /> },
        { id: 'keys', title: w.tabs.keys, content: <WebhookKeys id={subscription.id} /> },
      ]
    : []),
  {
    id: 'settings',
    title: w.tabs.settings,
    content: <SettingsForm key={subscription.id} subscription={subscription} />,
  },
]

/** Only webhooks have headers and keys. Their endpoint is a URL. */
const isWebhook = ({ endpoint }: Subscription) => /^https?:/.test(endpoint)

function Standing({ subscription }: { subscription: Subscription }) {
  const { lane, onFailure } = subscription
  const { lastFailure } = lane
  return (
    <div className={css.columns}>
      <section className={css.panel}>
        <h2>{w.tabs.standing}</h2>
        <Pairs
          pairs={[
            [
              w.lastFailure,
              lastFailure ? (
                <>
                  {lastFailure.statusCode ?? lastFailure.error}, <When at={lastFailure.at} />
                </>
              ) : (
                words.never
              ),
            ],
            [w.lastSuccess, <When key="at" at={lane.lastSuccessAt} />],
            [w.circuit, lane.circuit ?? words.none],
            [w.nextProbe, <When key="probe" at={lane.nextProbeAt} isDue empty="–" />],
            [w.retryQuota, lane.retryQuota ?? '–'],
            [w.onFailure, lane.circuit === 'open' ? `${onFailure}. ${w.openCircuit}` : onFailure],
            [w.deadLetters, <LetterQueue key="queue" subscription={subscription} />],
          ]}
        />
      </section>
      <section className={css.panel}>
        <h2>{words.pages.subscription}</h2>
        <Pairs
          pairs={[
            [words.topic.endpoint, <Endpoint key="endpoint" {...subscription} />],
            [w.movesTo, subscription.pendingEndpoint ?? '–'],
            [words.topics.kind, subscription.protocol],
            [w.raw, subscription.rawMessageDelivery ? words.yes : words.no],
            [w.maxInFlight, subscription.maxInFlight],
            [w.retryMode, subscription.retryMode],
            [w.groupThrottle, groupRates(subscription)],
            [w.onGone, subscription.onGone === null ? words.none : w.onGoneIs[subscription.onGone]],
            [words.topics.created, <When key="created" at={subscription.createdAt} />],
            [w.id, <code key="id">{subscription.id}</code>],
            [words.topic.arn, <code key="arn">{subscription.arn}</code>],
          ]}
        />
      </section>
    </div>
  )
}

function groupRates({ groupThrottle }: Subscription): string {
  if (groupThrottle === null) return words.none
  const each = groupThrottle.maxReceivesPerSecond
  const own = Object.entries(groupThrottle.overrides ?? {}).map(([group, rate]) => w.groupRate(group, rate))
  return [...(each ? [w.eachGroup(each)] : []), ...own].join(', ')
}

/** The queue of an endpoint has a page. Other endpoints are shown as they are. */
function Endpoint({ endpoint, topicArn }: Subscription) {
  return endpoint.startsWith('arn:') ? <ArnLink arn={endpoint} own={topicArn} /> : endpoint
}

function Policy({ id, deliveryPolicy, effectiveDeliveryPolicy }: Subscription) {
  return (
    <section className={css.panel}>
      <h2>{w.effective}</h2>
      <div className={css.stack}>
        <Pairs
          pairs={[...policyPairs(effectiveDeliveryPolicy), [w.own, deliveryPolicy ? words.yes : w.inherits]]}
        />
        <Link to="/subs/$id/curve" params={{ id }}>
          {w.editCurve}
        </Link>
      </div>
    </section>
  )
}

function Filter({ topicArn, filterPolicy, filterPolicyScope, eventTypes }: Subscription) {
  return (
    <div className={css.stack}>
      <Pairs pairs={[[words.eventTypes.chosen, eventTypes?.join(', ') ?? words.eventTypes.all]]} />
      <p className={css.quiet}>{filterPolicy ? w.filterHere : w.noFilter}</p>
      <FilterTester topic={nameOf(topicArn)} policy={filterPolicy} scope={filterPolicyScope} />
    </div>
  )
}

function Outbound({ outbound }: Subscription) {
  if (!outbound) return <p className={css.quiet}>{w.noOutbound}</p>
  return (
    <section className={css.panel}>
      <h2>{w.tabs.outbound}</h2>
      <Pairs
        pairs={Object.entries(outbound).map(([name, value]) => [
          name,
          <code key={name}>{shown(value)}</code>,
        ])}
      />
    </section>
  )
}

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
