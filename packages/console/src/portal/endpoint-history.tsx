/** The latest deliveries of an endpoint, and its dead letters. */
import {
  listPortalAttempts,
  listPortalDeadLetters,
  listPortalMessages,
  type PortalAttemptList,
  type PortalDeadLetterList,
  type PortalMessageList,
  redrivePortalEndpoint,
} from '@fantail/client/api'
import { useRead, useWrite } from '../api/use-api.ts'
import { words } from '../i18n/en.ts'
import { Button } from '../parts/button.tsx'
import { type Column, DataTable, ReadTable } from '../parts/data-table.tsx'
import { formatBytes } from '../parts/formats.ts'
import { MessageText } from '../parts/message-text.tsx'
import css from '../parts/parts.module.css'
import { When } from '../parts/show.tsx'
import { Empty, Failed, Loaded } from '../parts/states.tsx'

type Delivery = PortalMessageList['messages'][number]
type Attempt = PortalAttemptList['attempts'][number]
type Letter = PortalDeadLetterList['deadLetters'][number]

const w = words.portal

const DELIVERIES: readonly Column<Delivery>[] = [
  { title: w.published, show: ({ publishedAt }) => <When at={publishedAt} /> },
  { title: w.message, show: ({ messageId }) => <code>{messageId}</code> },
  { title: w.state, show: ({ state }) => w.states[state] },
  { title: w.answer, show: ({ statusCode, error }) => statusCode ?? error ?? '–' },
  { title: w.attempts, show: ({ attempts }) => attempts ?? '–', isNumber: true },
]

export function Deliveries({ id }: { id: string }) {
  const read = useRead(listPortalMessages, { path: { id } })
  return (
    <section className={css.stack}>
      <h2>{w.deliveries}</h2>
      <ReadTable
        read={read}
        skeletonRows={4}
        label={w.deliveries}
        columns={DELIVERIES}
        rowsOf={({ messages }) => messages}
        keyOf={({ messageId }) => messageId}
        empty={<Empty title={w.noDeliveries} />}
      />
    </section>
  )
}

const ATTEMPTS: readonly Column<Attempt>[] = [
  { title: w.begun, show: ({ startedAt }) => <When at={startedAt} /> },
  { title: w.message, show: ({ messageId }) => <code>{messageId}</code> },
  { title: w.number, show: ({ attempt }) => attempt, isNumber: true },
  { title: w.answer, show: ({ statusCode, error }) => statusCode ?? error ?? '–' },
  { title: w.took, show: ({ durationMs }) => `${Math.round(durationMs)} ms`, isNumber: true },
  { title: w.text, show: ({ answer }) => (answer === null ? '–' : <MessageText text={answer} />) },
]

/** Shows nothing if the topic records no attempts. */
export function Attempts({ id }: { id: string }) {
  const read = useRead(listPortalAttempts, { path: { id } })
  if (read.data && !read.data.recording && read.data.attempts.length === 0) return null
  return (
    <section className={css.stack}>
      <h2>{w.attempts}</h2>
      <ReadTable
        read={read}
        skeletonRows={2}
        label={w.attempts}
        columns={ATTEMPTS}
        rowsOf={({ attempts }) => attempts}
        keyOf={({ messageId, startedAt, attempt }) => `${messageId} ${startedAt} ${attempt}`}
        empty={<Empty title={w.noAttempts} />}
      />
    </section>
  )
}

const LETTERS: readonly Column<Letter>[] = [
  { title: w.givenUp, show: ({ deadLetteredAt }) => <When at={deadLetteredAt} /> },
  { title: w.message, show: ({ messageId }) => <code>{messageId}</code> },
  { title: w.answer, show: ({ statusCode, error }) => statusCode ?? error ?? '–' },
  { title: w.attempts, show: ({ attempts }) => attempts, isNumber: true },
  {
    title: w.text,
    show: ({ body, bodyBytes }) => (body === null ? formatBytes(bodyBytes) : <MessageText text={body} />),
  },
]

export function DeadLetters({ id, mayRedrive }: { id: string; mayRedrive: boolean }) {
  const input = { path: { id } }
  const read = useRead(listPortalDeadLetters, input)
  const redrive = useWrite(redrivePortalEndpoint)
  return (
    <section className={css.stack}>
      <h2>{w.deadLetters}</h2>
      <Loaded read={read} rows={2}>
        {({ total, deadLetters }) => (
          <>
            {mayRedrive && total > 0 && (
              <div className={css.row}>
                <Button isDisabled={redrive.isPending} onPress={() => redrive.mutate(input)}>
                  {w.redrive(total)}
                </Button>
              </div>
            )}
            <DataTable
              label={w.deadLetters}
              columns={LETTERS}
              rows={deadLetters}
              keyOf={({ messageId, deadLetteredAt }) => `${messageId} ${deadLetteredAt}`}
              empty={<Empty title={w.noDeadLetters} />}
            />
          </>
        )}
      </Loaded>
      <div role="status">{redrive.data && w.redriving(redrive.data.matched)}</div>
      {redrive.error && <Failed error={redrive.error} />}
    </section>
  )
}
