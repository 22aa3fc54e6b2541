/** One queue: its counts, its settings, and its messages. To show messages does not receive or hide them. */
import type { Queue, QueueMessage } from '@fantail/client/api'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { SCREEN_REFRESH_MS, usePages, useRead } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, ReadTable } from '../../parts/data-table.tsx'
import { formatSeconds, nameOf } from '../../parts/formats.ts'
import { ArnLink, TopicLink } from '../../parts/links.tsx'
import { MessageLine } from '../../parts/message-line.tsx'
import { Gone, PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, Figure, Figures, Pairs, When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { takesDeadLetters } from './dead-letter-queues.ts'
import { QueueMessageDialog } from './queue-message-dialog.tsx'

const w = words.queues
const route = getRouteApi('/queues/$queue')

export function QueuePage() {
  const { queue: name } = route.useParams()
  const { tab = 'messages' } = route.useSearch()
  const navigate = route.useNavigate()
  const input = { path: { queue: name } }
  const read = useRead(operations.getQueue, input, { everyMs: SCREEN_REFRESH_MS })
  return (
    <Loaded
      read={read}
      frame={<PageHead title={name} above={<Link to="/queues">{words.pages.queues}</Link>} />}
      gone={
        <Gone title={w.gone}>
          <Link to="/queues">{words.pages.queues}</Link>
        </Gone>
      }
    >
      {(queue) => (
        <>
          <PageHead
            title={queue.name}
            above={<Link to="/queues">{words.pages.queues}</Link>}
            status={
              <>
                {queue.fifo && <Badge>{words.topics.fifo}</Badge>}
                {queue.sealMessages && <Badge>{words.topics.sealed}</Badge>}
              </>
            }
            request={callOf(operations.getQueue, input)}
          >
            {takesDeadLetters(queue) && (
              <Link to="/dlq/$queue" params={{ queue: name }}>
                {w.openWorkbench}
              </Link>
            )}
          </PageHead>
          <div className={css.stack}>
            <div className={css.panel}>
              <QueueFigures queue={queue} />
            </div>
            <Tabs
              label={queue.name}
              selected={tab}
              onSelect={(id) => void navigate({ search: { tab: id }, replace: true })}
              tabs={[
                { id: 'messages', title: w.messages, content: <Messages name={name} /> },
                { id: 'settings', title: w.settings, content: <Settings queue={queue} /> },
              ]}
            />
          </div>
        </>
      )}
    </Loaded>
  )
}

export function QueueFigures({ queue }: { queue: Queue }) {
  const { counts, oldestSeconds, groups } = queue
  return (
    <Figures>
      <Figure label={w.visible} value={counts.visible} />
      <Figure label={w.inFlight} value={counts.inFlight} />
      <Figure label={w.delayed} value={counts.delayed} />
      <Figure label={w.oldest} value={oldestSeconds === null ? '–' : formatSeconds(oldestSeconds)} />
      {groups && <Figure label={w.noisyGroups} value={groups.noisy} />}
      {groups && <Figure label={w.quietVisible} value={groups.quietVisible} />}
      <Figure label={words.topics.retention} value={formatSeconds(queue.retentionSeconds)} />
    </Figures>
  )
}

function Messages({ name }: { name: string }) {
  const [open, setOpen] = useState<QueueMessage>()
  const input = { path: { queue: name }, query: { limit: 50 } }
  const read = usePages(operations.peekMessages, input)
  const columns: readonly Column<QueueMessage>[] = [
    {
      title: w.body,
      show: (message) => (
        <Button kind="plain" onPress={() => setOpen(message)}>
          <MessageLine eventType={message.eventType} line={message.line} id={message.messageId} />
        </Button>
      ),
    },
    { title: w.group, show: ({ groupId }) => groupId ?? '–' },
    { title: w.received, show: ({ receiveCount }) => receiveCount, isNumber: true },
    { title: w.sent, show: ({ sentAt }) => <When at={sentAt} /> },
  ]
  return (
    <>
      <ReadTable
        read={read}
        label={w.messages}
        columns={columns}
        rowsOf={({ pages }) => pages.flatMap((page) => page.messages)}
        keyOf={({ messageId }) => messageId}
        empty={<Empty title={w.noMessages}>{w.noMessagesWhy}</Empty>}
      />
      <QueueMessageDialog queue={name} message={open} onClose={() => setOpen(undefined)} />
    </>
  )
}

function Settings({ queue }: { queue: Queue }) {
  const { redrivePolicy, redriveAllowPolicy } = queue
  return (
    <section className={css.panel}>
      <Pairs
        pairs={[
          [w.visibility, formatSeconds(queue.visibilityTimeoutSeconds)],
          [w.delay, formatSeconds(queue.delaySeconds)],
          [w.wait, formatSeconds(queue.receiveWaitSeconds)],
          [
            w.redrivePolicy,
            redrivePolicy ? (
              <>
                {w.afterReceives(redrivePolicy.maxReceiveCount)}{' '}
                <ArnLink arn={redrivePolicy.deadLetterTargetArn} own={queue.arn} />
              </>
            ) : (
              words.none
            ),
          ],
          [w.allowPolicy, allowedBy(redriveAllowPolicy)],
          [w.sources, <Sources key="sources" queue={queue} />],
          [w.madeBy, queue.deadLettersOf ? <TopicLink key="topic" arn={queue.deadLettersOf} /> : '–'],
          [words.topics.created, <When key="created" at={queue.createdAt} />],
          [w.changed, <When key="changed" at={queue.modifiedAt} />],
          [words.topic.arn, <code key="arn">{queue.arn}</code>],
          [w.url, <code key="url">{queue.url}</code>],
        ]}
      />
    </section>
  )
}

function allowedBy(policy: Queue['redriveAllowPolicy']): string {
  const permission = policy?.redrivePermission ?? 'allowAll'
  const names = policy?.sourceQueueArns?.map(nameOf).join(', ')
  return names || (w.allowed[permission] ?? permission)
}

function Sources({ queue: { arn, deadLetterSources } }: { queue: Queue }) {
  if (deadLetterSources.length === 0) return words.none
  return (
    <ul>
      {deadLetterSources.map((source) => (
        <li key={source}>
          <ArnLink arn={source} own={arn} />
        </li>
      ))}
    </ul>
  )
}
