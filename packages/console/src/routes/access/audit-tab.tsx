/** The audit trail, by key, action and resource. The address has the filters. */
import { getRouteApi } from '@tanstack/react-router'
import { callOf, operations } from '../../api/api-calls.ts'
import type { AuditList } from '../../api/api-types.ts'
import { usePages } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, type Tone, When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'

type Entry = AuditList['entries'][number]

const w = words.access
/** A page can take some reads. */
const AUDIT_REFRESH_MS = 15_000
const TONES: Record<Entry['result'], Tone> = { done: 'good', denied: 'bad', failed: 'warn' }
const route = getRouteApi('/access')

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

export function AuditTab() {
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
