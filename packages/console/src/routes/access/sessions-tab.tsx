/** Sessions of console and portal, and the button that ends one. */
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import type { SessionList } from '../../api/api-types.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Badge, When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'

type Session = SessionList['sessions'][number]

const w = words.access
/** The API reads each session for this list, so it is refreshed slowly. */
const SESSIONS_REFRESH_MS = 15_000

export function SessionsTab() {
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
      <Loaded read={read} rows={3}>
        {({ sessions }) => (
          <DataTable
            label={w.sessions}
            columns={columns}
            rows={sessions}
            keyOf={({ id }) => id}
            empty={<Empty title={w.noSessions}>{w.noSessionsWhy}</Empty>}
          />
        )}
      </Loaded>
      <Confirm
        title={w.endTitle}
        action={w.end}
        name={ended?.keyId ?? ''}
        isOpen={ended !== undefined}
        isPending={end.isPending}
        error={end.error}
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
