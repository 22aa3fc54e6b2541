/** The processes of Fantail that run now, each with its load. */
import { operations } from '../../api/api-calls.ts'
import type { ServiceList } from '../../api/api-types.ts'
import { useRead } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { When } from '../../parts/show.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'

type Process = ServiceList['processes'][number]

const w = words.system
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

export function ProcessTable() {
  const read = useRead(operations.listServices, {})
  return (
    <Loaded read={read} rows={3}>
      {({ processes }) => (
        <DataTable
          label={w.processes}
          columns={COLUMNS}
          rows={processes}
          keyOf={({ id }) => id}
          empty={<Empty title={w.noProcesses}>{w.noProcessesWhy}</Empty>}
        />
      )}
    </Loaded>
  )
}
