/** One message: a row for each subscription, with the state of its delivery and the cause of that state. */
import type { DeliveryList } from '@fantail/client/api'
import { markdownCell } from '@fantail/policy'
import { getRouteApi, Link } from '@tanstack/react-router'
import { callOf, operations } from '../../api/api-calls.ts'
import { ApiError } from '../../api/api-error.ts'
import { SCREEN_REFRESH_MS, useRead } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { formatBytes, formatSeconds, nameOf as lastOf } from '../../parts/formats.ts'
import { SubscriptionLink, TopicLink } from '../../parts/links.tsx'
import { Gone, PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, Figure, Figures, type Tone, When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { DeliveryTimeline } from '../attempts/delivery-timeline.tsx'
import { MessageBodyPanel } from './message-body.tsx'
import { ResendButton } from './resend-button.tsx'

type Delivery = DeliveryList['deliveries'][number]

const w = words.message
const route = getRouteApi('/messages/$id')

const TONES: Record<Delivery['state'], Tone> = {
  delivered: 'good',
  waiting: 'warn',
  inFlight: 'warn',
  deadLettered: 'bad',
  discarded: 'bad',
  expired: 'bad',
  quarantined: 'bad',
  filtered: undefined,
}

const columnsFor = (opened: string | null | undefined): readonly Column<Delivery>[] => [
  { title: w.state, show: (delivery) => <State delivery={delivery} /> },
  {
    title: words.topic.endpoint,
    show: ({ endpoint, subscriptionId: id, subscriptionName: name }) =>
      id ? (
        <SubscriptionLink id={id} name={name} endpoint={endpoint} withEndpoint opensRow />
      ) : (
        (endpoint ?? w.unknown)
      ),
  },
  {
    title: w.attempts,
    show: (delivery) => <Attempts delivery={delivery} isOpen={delivery.subscriptionId === opened} />,
    isNumber: true,
  },
  { title: w.lastAnswer, show: ({ lastStatusCode, lastError }) => lastStatusCode ?? lastError ?? '–' },
  { title: w.why, show: whyOf },
  { title: words.topic.next, show: ({ nextAttemptAt }) => <When at={nextAttemptAt} isDue empty="–" /> },
  { title: w.ended, show: ({ endedAt }) => <When at={endedAt} empty="–" /> },
]

/** The state, and the way to the dead letter. */
function State({ delivery: { state, deadLetter } }: { delivery: Delivery }) {
  return (
    <>
      <Badge tone={TONES[state]}>{w.states[state]}</Badge>{' '}
      {deadLetter && (
        <Link
          to="/dlq/$queue"
          params={{ queue: lastOf(deadLetter.queueArn) }}
          search={{ letter: deadLetter.messageId }}
          title={deadLetter.messageId}
        >
          {w.letter}
        </Link>
      )}
    </>
  )
}

/** The number of attempts, and the button that shows them under the row. */
function Attempts({ delivery, isOpen }: { delivery: Delivery; isOpen: boolean }) {
  const { attempts, attemptsMax, subscriptionId, state } = delivery
  const navigate = route.useNavigate()
  const text = attemptsMax === null ? String(attempts) : w.of(attempts, attemptsMax)
  if (state === 'filtered') return '–'
  if (subscriptionId === null || isDeleted(delivery)) return text
  return (
    <Button
      kind="plain"
      aria-expanded={isOpen}
      aria-label={words.attempts.show(text, nameOf(delivery))}
      onPress={() =>
        void navigate({ search: isOpen ? { open: 'none' } : { open: subscriptionId }, replace: true })
      }
    >
      {text} {isOpen ? '▾' : '▸'}
    </Button>
  )
}

/** The open row. Without a choice of the user, it is the first delivery that has attempts and is not delivered. */
function openedOf(rows: readonly Delivery[], open: string | undefined): string | null | undefined {
  if (open !== undefined) return open
  return rows.find((row) => row.attempts > 0 && row.state !== 'delivered' && !isDeleted(row))?.subscriptionId
}

/** The cause by its name in the API, and the delay. */
function whyOf({ cause, delayMs, reason, redrives, resentAt }: Delivery) {
  const waited = delayMs === null || delayMs === 0 ? '' : formatSeconds(delayMs / 1_000)
  const parts = [
    cause,
    waited,
    reason === cause ? null : reason,
    redrives > 0 ? w.redrives(redrives) : null,
    resentAt === null ? null : w.resent,
  ]
  return parts.filter((part) => part !== null && part !== '').join(', ') || '–'
}

export function MessagePage() {
  const { id } = route.useParams()
  const { open } = route.useSearch()
  const input = { path: { messageId: id } }
  const message = useRead(operations.getMessage, input, { everyMs: SCREEN_REFRESH_MS })
  const deliveries = useRead(operations.listDeliveries, input, { everyMs: SCREEN_REFRESH_MS })
  if (message.error instanceof ApiError && message.error.status === 404) return <UnknownMessage />
  return (
    <>
      <PageHead
        title={id}
        above={<Link to="/messages">{words.pages.messages}</Link>}
        request={callOf(operations.listDeliveries, input)}
      >
        {deliveries.data && <CopyButton label={w.copyBundle} text={bundle(id, deliveries.data.deliveries)} />}
      </PageHead>
      <Loaded read={message} rows={2}>
        {({ topicArn, publishedAt, sizeBytes, counts }) => (
          <div className={css.stack}>
            <div className={css.panel}>
              <Figures>
                <Figure label={words.pages.topic} value={topicArn ? <TopicLink arn={topicArn} /> : '–'} />
                <Figure label={w.published} value={<When at={publishedAt} />} />
                <Figure label={w.size} value={formatBytes(sizeBytes)} />
                {(Object.keys(counts) as (keyof typeof counts)[])
                  .filter((state) => counts[state] > 0)
                  .map((state) => (
                    <Figure key={state} label={w.states[state]} value={counts[state]} />
                  ))}
              </Figures>
            </div>
            <Loaded read={deliveries}>
              {({ deliveries: rows, logged }) => (
                <DataTable
                  label={w.deliveries}
                  columns={[...columnsFor(openedOf(rows, open)), resendOf(id)]}
                  rows={rows}
                  keyOf={({ subscriptionId, endpoint, state }) => `${subscriptionId} ${endpoint} ${state}`}
                  under={(delivery) =>
                    delivery.subscriptionId !== null &&
                    delivery.subscriptionId === openedOf(rows, open) && (
                      <DeliveryTimeline
                        messageId={id}
                        subscriptionId={delivery.subscriptionId}
                        publishedAt={publishedAt}
                        delivery={delivery}
                      />
                    )
                  }
                  empty={
                    logged ? (
                      <Empty title={w.nobody}>{w.nobodyWhy}</Empty>
                    ) : (
                      <Empty title={w.left}>{w.leftWhy}</Empty>
                    )
                  }
                />
              )}
            </Loaded>
            <MessageBodyPanel id={id} />
          </div>
        )}
      </Loaded>
    </>
  )
}

function UnknownMessage() {
  return (
    <Gone title={w.gone} why={w.goneWhy}>
      <Link to="/messages">{words.pages.messages}</Link>
    </Gone>
  )
}

/** Whether its subscription was deleted. Its page then says so, and it can get nothing any more. */
function isDeleted({ subscriptionId, endpoint }: Delivery): boolean {
  return subscriptionId !== null && endpoint === null
}

/** The name of a delivery's subscription, or what else is known of it. */
function nameOf({ subscriptionId, subscriptionName, endpoint }: Delivery): string {
  return subscriptionName ?? endpoint ?? subscriptionId ?? w.unknown
}

/** The column with the action of a row. */
function resendOf(messageId: string): Column<Delivery> {
  return {
    title: words.resend.resend,
    show: (delivery) =>
      delivery.subscriptionId === null || isDeleted(delivery) ? (
        '–'
      ) : (
        <ResendButton
          messageId={messageId}
          subscriptionId={delivery.subscriptionId}
          endpoint={nameOf(delivery)}
        />
      ),
  }
}

/** The table as Markdown, without bodies and secrets. */
function bundle(id: string, rows: Delivery[]): string {
  const line = (delivery: Delivery) => {
    const { state, endpoint, attempts, lastStatusCode, lastError, endedAt } = delivery
    const cells = [state, endpoint, attempts, lastStatusCode ?? lastError, whyOf(delivery), endedAt]
    return `| ${cells.map((cell) => markdownCell(String(cell ?? ''))).join(' | ')} |`
  }
  return [`Message ${id}`, '', w.bundleHead, '|---|---|---|---|---|---|', ...rows.map(line)].join('\n')
}
