/** One topic: who gets its messages, the policy in force, and forms that publish, subscribe and try a filter. */
import type { Subscription, Topic } from '@fantail/client/api'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { usePages, useRead, useWrite } from '../../api/use-api.ts'
import { StatsPanel } from '../../charts/stats-panel.tsx'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, ReadTable } from '../../parts/data-table.tsx'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { formatNumber, formatSeconds } from '../../parts/formats.ts'
import { SubscriptionLink } from '../../parts/links.tsx'
import { Gone, PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, Figure, Figures, Pairs, When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { VerdictBadge } from '../lanes/lane-flow.tsx'
import { EventTypesTab } from './event-types-tab.tsx'
import { FilterTester } from './filter-tester.tsx'
import { KeepForm } from './keep-form.tsx'
import { policyPairs } from './policy-pairs.ts'
import { PublishForm } from './publish-form.tsx'
import { SubscribeForm } from './subscribe-form.tsx'

const w = words.topic
const route = getRouteApi('/topics/$topic')

export function TopicPage() {
  const { topic: name } = route.useParams()
  const { tab = 'subscriptions', range } = route.useSearch()
  const navigate = route.useNavigate()
  const input = { path: { topic: name } }
  const read = useRead(operations.getTopic, input)
  return (
    <Loaded
      read={read}
      frame={<PageHead title={name} above={<Link to="/topics">{words.pages.topics}</Link>} />}
      gone={
        <Gone title={w.gone}>
          <Link to="/topics">{words.pages.topics}</Link>
        </Gone>
      }
    >
      {(topic) => (
        <>
          <PageHead
            title={topic.displayName || topic.name}
            above={<Above topic={topic} />}
            status={
              <>
                {topic.fifo && <Badge>{words.topics.fifo}</Badge>}
                {topic.sealMessages && <Badge>{words.topics.sealed}</Badge>}
              </>
            }
            request={callOf(operations.getTopic, input)}
          >
            <DeleteTopic topic={topic} />
          </PageHead>
          <div className={css.stack}>
            <div className={css.panel}>
              <Figures>
                <Figure label={words.topics.active} value={topic.subscriptions.active} />
                <Figure label={words.topics.paused} value={topic.subscriptions.paused} />
                <Figure label={words.topics.pending} value={topic.subscriptions.pending} />
                <Figure label={words.topics.retention} value={formatSeconds(topic.retentionSeconds)} />
              </Figures>
            </div>
            <StatsPanel range={range} topic={topic.arn} />
            <Tabs
              label={topic.name}
              selected={tab}
              onSelect={(id) => void navigate({ search: { range, tab: id }, replace: true })}
              tabs={[
                {
                  id: 'subscriptions',
                  title: words.topics.subscriptions,
                  content: <Subscriptions topic={topic} />,
                },
                { id: 'publish', title: w.publish, content: <PublishForm topic={topic} /> },
                { id: 'types', title: words.eventTypes.title, content: <EventTypesTab topic={topic} /> },
                { id: 'policy', title: w.policy, content: <Policy topic={topic} /> },
                { id: 'filter', title: w.filterTester, content: <FilterTester topic={topic.name} /> },
                { id: 'kept', title: words.keep.title, content: <KeepForm topic={topic} /> },
              ]}
            />
          </div>
        </>
      )}
    </Loaded>
  )
}

/** A title that is no name stands beside the name. */
function Above({ topic: { name, displayName } }: { topic: Topic }) {
  return (
    <>
      <Link to="/topics">{words.pages.topics}</Link>
      {displayName && displayName !== name && ` → ${name}`}
    </>
  )
}

const COLUMNS: readonly Column<Subscription>[] = [
  {
    title: w.endpoint,
    show: ({ id, endpoint, name }) => (
      <SubscriptionLink id={id} name={name} endpoint={endpoint} withEndpoint opensRow />
    ),
  },
  { title: words.topics.kind, show: ({ protocol }) => protocol },
  { title: w.status, show: ({ verdict }) => <VerdictBadge verdict={verdict} /> },
  { title: w.waiting, show: ({ lane }) => formatNumber(lane.waiting), isNumber: true },
  {
    title: w.oldest,
    show: ({ lane }) => (lane.oldestWaitingSeconds === null ? '–' : formatSeconds(lane.oldestWaitingSeconds)),
    isNumber: true,
  },
  { title: w.next, show: ({ lane }) => <When at={lane.nextAttemptAt} isDue empty="–" /> },
]

function Subscriptions({ topic }: { topic: Topic }) {
  const [isOpen, setOpen] = useState(false)
  const read = usePages(operations.listTopicSubscriptions, {
    path: { topic: topic.name },
    query: { limit: 100 },
  })
  return (
    <div className={css.stack}>
      <div className={css.row}>
        <Button onPress={() => setOpen(true)}>{w.subscribe}</Button>
      </div>
      <ReadTable
        read={read}
        label={words.topics.subscriptions}
        columns={COLUMNS}
        rowsOf={({ pages }) => pages.flatMap((page) => page.subscriptions)}
        keyOf={({ id }) => id}
        empty={
          <Empty title={w.noSubscriptions}>
            <p>{w.noSubscriptionsWhy}</p>
            <Button kind="primary" onPress={() => setOpen(true)}>
              {w.subscribe}
            </Button>
          </Empty>
        }
      />
      <Dialog title={w.subscribeTo(topic.name)} isOpen={isOpen} onClose={() => setOpen(false)}>
        <SubscribeForm topic={topic} />
      </Dialog>
    </div>
  )
}

function Policy({ topic }: { topic: Topic }) {
  const origin = (isOwn: boolean) => (isOwn ? w.fromTopic : w.fromSystem)
  const { healthyRetryPolicy, throttlePolicy, requestPolicy } = topic.deliveryPolicy ?? {}
  return (
    <div className={css.columns}>
      <section className={css.panel}>
        <h2>{w.effective}</h2>
        <Pairs pairs={policyPairs(topic.effectiveDeliveryPolicy)} />
      </section>
      <section className={css.panel}>
        <h2>{w.origin}</h2>
        <Pairs
          pairs={[
            [w.retries, origin(healthyRetryPolicy !== undefined)],
            [w.throttle, origin(throttlePolicy !== undefined)],
            [w.contentType, origin(requestPolicy !== undefined)],
            [w.overrides, topic.disableSubscriptionOverrides ? w.overridesOff : w.overridesOn],
            [w.signing, topic.signing],
            [words.topics.created, <When key="created" at={topic.createdAt} />],
            [w.arn, <code key="arn">{topic.arn}</code>],
          ]}
        />
      </section>
    </div>
  )
}

function DeleteTopic({ topic }: { topic: Topic }) {
  const [isOpen, setOpen] = useState(false)
  const remove = useWrite(operations.deleteTopic)
  const navigate = useNavigate()
  const { active, paused, pending } = topic.subscriptions
  const count = active + paused + pending
  const confirm = () =>
    remove.mutate({ path: { topic: topic.name } }, { onSuccess: () => void navigate({ to: '/topics' }) })
  return (
    <>
      <Button kind="danger" onPress={() => setOpen(true)}>
        {w.delete}
      </Button>
      <Confirm
        title={w.deleteTitle(topic.name)}
        action={w.delete}
        name={topic.name}
        count={count}
        isOpen={isOpen}
        write={remove}
        onClose={() => setOpen(false)}
        onConfirm={confirm}
      >
        <p>{w.deleteWhat(count)}</p>
      </Confirm>
    </>
  )
}
