/** The API’s checks, the processes that run, and the quarantine: what cannot be decoded waits there for an operator. */
import type { QuarantineEntry, Readiness, ServiceList } from '@fantail/client/api'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { usePages, useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, ReadTable } from '../../parts/data-table.tsx'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { formatBytes } from '../../parts/formats.ts'
import { TopicLink } from '../../parts/links.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, Pairs, type Tone, When } from '../../parts/show.tsx'
import { Empty, Failed, Loaded } from '../../parts/states.tsx'

const w = words.system
const TONES: Record<Readiness['status'], Tone> = { ready: 'good', degraded: 'warn', unavailable: 'bad' }

export function SystemPage() {
  const readiness = useRead(operations.getReadiness, {})
  return (
    <>
      <PageHead title={words.pages.system} request={callOf(operations.getReadiness, {})} />
      <div className={css.stack}>
        <Loaded read={readiness} rows={3}>
          {(found) => (
            <section className={css.panel}>
              <h2>
                <Badge tone={TONES[found.status]}>{w.states[found.status]}</Badge>
              </h2>
              <Pairs
                pairs={[
                  ...Object.entries(found.checks).map(
                    ([name, state]) => [w.checks[name] ?? name, state] as const,
                  ),
                  ...found.degraded.map(({ reason, message }) => [reason, message] as const),
                  [w.version, found.version],
                  [w.commit, <code key="commit">{found.commit}</code>],
                  [w.started, <When key="at" at={found.startedAt} />],
                ]}
              />
            </section>
          )}
        </Loaded>
        <section className={css.stack}>
          <h2>{w.processes}</h2>
          <ProcessTable />
        </section>
        <section className={css.stack}>
          <h2>{w.quarantine}</h2>
          <Quarantine />
        </section>
        <p className={css.quiet}>
          <a href="/docs">{words.shell.docs}</a>
        </p>
      </div>
    </>
  )
}

function Quarantine() {
  const [removed, setRemoved] = useState<QuarantineEntry>()
  const read = usePages(operations.listQuarantine, { query: { limit: 100 } })
  const putBack = useWrite(operations.putBackQuarantineEntry)
  const remove = useWrite(operations.deleteQuarantineEntry)
  const columns: readonly Column<QuarantineEntry>[] = [
    { title: w.reason, show: ({ reason }) => <Badge tone="bad">{reason}</Badge> },
    { title: w.detail, show: ({ detail }) => detail },
    { title: words.pages.topic, show: ({ topicArn }) => (topicArn ? <TopicLink arn={topicArn} /> : '–') },
    { title: words.publish.message, show: ({ messageId }) => messageId ?? '–' },
    { title: words.message.size, show: ({ rawBytes }) => formatBytes(rawBytes), isNumber: true },
    { title: w.since, show: ({ quarantinedAt }) => <When at={quarantinedAt} /> },
    {
      title: w.actions,
      show: (entry) => (
        <div className={css.row}>
          <Button kind="plain" onPress={() => putBack.mutate({ path: { id: entry.id } })}>
            {w.putBack}
          </Button>
          <Button kind="plain" onPress={() => setRemoved(entry)}>
            {w.delete}
          </Button>
        </div>
      ),
    },
  ]
  return (
    <>
      {putBack.error && <Failed error={putBack.error} />}
      <ReadTable
        read={read}
        skeletonRows={2}
        label={w.quarantine}
        columns={columns}
        rowsOf={({ pages }) => pages.flatMap((page) => page.entries)}
        keyOf={({ id }) => id}
        empty={<Empty title={w.noEntries}>{w.noEntriesWhy}</Empty>}
      />
      <Confirm
        title={w.deleteTitle}
        action={w.delete}
        name={removed?.id ?? ''}
        isOpen={removed !== undefined}
        write={remove}
        onClose={() => setRemoved(undefined)}
        onConfirm={() =>
          remove.mutate({ path: { id: removed?.id ?? '' } }, { onSuccess: () => setRemoved(undefined) })
        }
      >
        <p>{w.deleteWhat}</p>
      </Confirm>
    </>
  )
}

type Process = ServiceList['processes'][number]

const COLUMNS: readonly Column<Process>[] = [
  { title: w.role, show: ({ role }) => role },
  { title: w.mode, show: ({ mode }) => mode },
  {
    title: w.place,
    show: ({ host, pid }) => (
      <code>
        {host} · {pid}
      </code>
    ),
  },
  { title: w.version, show: ({ version, commit }) => `${version} (${commit.slice(0, 8)})` },
  {
    title: w.slots,
    show: ({ slots }) => (slots === null ? '–' : w.slotsOf(slots.used, slots.max)),
    isNumber: true,
  },
  { title: w.load, show: ({ load }) => `${Math.round(load * 100)} %`, isNumber: true },
  { title: w.lag, show: ({ lagMs }) => `${lagMs} ms`, isNumber: true },
  { title: w.started, show: ({ startedAt }) => <When at={startedAt} /> },
  { title: w.lastSeen, show: ({ lastSeenAt }) => <When at={lastSeenAt} /> },
]

/** The processes of Fantail that run now, each with its load. */
function ProcessTable() {
  const read = useRead(operations.listServices, {})
  return (
    <ReadTable
      read={read}
      skeletonRows={3}
      label={w.processes}
      columns={COLUMNS}
      rowsOf={({ processes }) => processes}
      keyOf={({ id }) => id}
      empty={<Empty title={w.noProcesses}>{w.noProcessesWhy}</Empty>}
    />
  )
}
