/** Shows who may do what, who is logged in, and who has changed what. */
import type { AuditList, SessionList } from '@fantail/client/api'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { usePages, useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, DataTable, ReadTable } from '../../parts/data-table.tsx'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, type Tone, When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { KeysPage } from './keys-page.tsx'
import { QuotasTab } from './quotas-tab.tsx'

const w = words.access
const route = getRouteApi('/access')

export function AccessPage() {
  const { tab = 'keys' } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Tabs
      label={w.title}
      selected={tab}
      onSelect={(next) => void navigate({ search: { tab: next }, replace: true })}
      tabs={[
        { id: 'keys', title: words.keysPage.title, content: <KeysPage /> },
        { id: 'quotas', title: words.quotas.title, content: <QuotasTab /> },
        { id: 'sessions', title: w.sessions, content: <SessionsTab /> },
        { id: 'audit', title: w.audit, content: <AuditTab /> },
      ]}
    />
  )
}

type Entry = AuditList['entries'][number]

/** A page can take some reads. */
const AUDIT_REFRESH_MS = 15_000
const TONES: Record<Entry['result'], Tone> = { done: 'good', denied: 'bad', failed: 'warn' }

const COLUMNS: readonly Column<Entry>[] = [
  { title: w.at, show: ({ at }) => <When at={at} /> },
  {
    title: w.key,
    show: ({ keyId, portal }) => <code>{portal ? `${keyId} · ${w.kinds.portal}` : keyId}</code>,
  },
  { title: w.address, show: ({ address }) => address ?? '–' },
  { title: w.action, show: ({ action }) => <code>{action}</code> },
  { title: w.resource, show: ({ resource }) => Object.values(resource).join(', ') || '–' },
  {
    title: w.result,
    show: ({ result, status, code }) => (
      <Badge tone={TONES[result]}>{`${w.results[result]} · ${code ?? status}`}</Badge>
    ),
  },
  { title: w.missed, show: ({ missed }) => missed || '–', isNumber: true },
]

/** The audit trail, by key, action and resource. The address has the filters. */
function AuditTab() {
  const { key, action, resource } = route.useSearch()
  const navigate = route.useNavigate()
  const query = {
    ...(key && { key }),
    ...(action && { action }),
    ...(resource && { resource }),
    limit: 50,
  }
  const read = usePages(operations.listAudit, { query }, { everyMs: AUDIT_REFRESH_MS })
  const set = (name: 'key' | 'action' | 'resource') => (value: string) =>
    void navigate({
      search: { tab: 'audit', key, action, resource, [name]: value || undefined },
      replace: true,
    })
  return (
    <div className={css.stack}>
      <PageHead title={w.audit} request={callOf(operations.listAudit, { query })} />
      <div className={css.fields}>
        <TextInput label={w.key} hint={w.keyHint} value={key ?? ''} onChange={set('key')} type="search" />
        <TextInput
          label={w.action}
          hint={w.actionHint}
          value={action ?? ''}
          onChange={set('action')}
          type="search"
        />
        <TextInput
          label={w.resource}
          hint={w.resourceHint}
          value={resource ?? ''}
          onChange={set('resource')}
          type="search"
        />
      </div>
      <Loaded read={read}>
        {({ pages }) => (
          <>
            <DataTable
              label={w.audit}
              columns={COLUMNS}
              rows={pages.flatMap((page) => page.entries)}
              keyOf={(entry) => JSON.stringify(entry)}
              onMore={read.hasNextPage ? () => void read.fetchNextPage() : undefined}
              empty={<Empty title={w.noAudit}>{w.noAuditWhy}</Empty>}
            />
            <p className={css.quiet}>
              {w.lookedBack} <When at={pages.at(-1)?.scannedTo} empty="–" />
            </p>
          </>
        )}
      </Loaded>
    </div>
  )
}

type Session = SessionList['sessions'][number]

/** The API reads each session for this list, so it is refreshed slowly. */
const SESSIONS_REFRESH_MS = 15_000

/** Sessions of console and portal, and the button that ends one. */
function SessionsTab() {
  const [ended, setEnded] = useState<Session>()
  const read = useRead(operations.listSessions, {}, { everyMs: SESSIONS_REFRESH_MS })
  const end = useWrite(operations.endSession)
  const columns: readonly Column<Session>[] = [
    {
      title: w.kind,
      show: ({ kind, current }) => (current ? <Badge tone="good">{w.current}</Badge> : w.kinds[kind]),
    },
    { title: w.key, show: ({ keyId }) => <code>{keyId}</code> },
    { title: w.bounds, show: ({ bounds }) => bounds.join(', ') || '–' },
    { title: w.begun, show: ({ createdAt }) => <When at={createdAt} /> },
    { title: w.lastUsed, show: ({ lastUsedAt }) => <When at={lastUsedAt} empty="–" /> },
    { title: w.ends, show: ({ endsAt }) => <When at={endsAt} /> },
    {
      title: w.end,
      show: (session) => (
        <Button kind="plain" onPress={() => setEnded(session)}>
          {w.end}
        </Button>
      ),
    },
  ]
  return (
    <>
      <PageHead title={w.sessions} request={callOf(operations.listSessions, {})} />
      <ReadTable
        read={read}
        skeletonRows={3}
        label={w.sessions}
        columns={columns}
        rowsOf={({ sessions }) => sessions}
        keyOf={({ id }) => id}
        empty={<Empty title={w.noSessions}>{w.noSessionsWhy}</Empty>}
      />
      <Confirm
        title={w.endTitle}
        action={w.end}
        name={ended?.keyId ?? ''}
        isOpen={ended !== undefined}
        write={end}
        onClose={() => setEnded(undefined)}
        onConfirm={() =>
          end.mutate({ path: { session: ended?.id ?? '' } }, { onSuccess: () => setEnded(undefined) })
        }
      >
        <p>{w.endWhat}</p>
      </Confirm>
    </>
  )
}
