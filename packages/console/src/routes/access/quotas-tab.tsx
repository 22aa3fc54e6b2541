/** Quotas of customers, with what is used. */
import type { Quota, QuotaSettings } from '@fantail/client/api'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import { usePages, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, ReadTable } from '../../parts/data-table.tsx'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { formatBytes } from '../../parts/formats.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { Empty } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'

const w = words.quotas
const MEMBERS = ['topics', 'subscriptions', 'storedBytes'] as const
type Member = (typeof MEMBERS)[number]

export function QuotasTab() {
  const [edited, setEdited] = useState<Quota | 'new'>()
  const [removed, setRemoved] = useState<Quota>()
  const input = { query: { limit: 100 } }
  const read = usePages(operations.listQuotas, input)
  const columns: readonly Column<Quota>[] = [
    { title: w.prefix, show: ({ prefix }) => <code>{prefix}…</code> },
    ...MEMBERS.map((member) => ({ title: w.members[member], show: (quota: Quota) => usedOf(quota, member) })),
    {
      title: w.change,
      show: (quota) => (
        <>
          <Button kind="plain" onPress={() => setEdited(quota)}>
            {w.change}
          </Button>
          <Button kind="plain" onPress={() => setRemoved(quota)}>
            {w.remove}
          </Button>
        </>
      ),
    },
  ]
  return (
    <>
      <PageHead title={w.title} request={callOf(operations.listQuotas, input)}>
        <Button kind="primary" onPress={() => setEdited('new')}>
          {w.set}
        </Button>
      </PageHead>
      <ReadTable
        read={read}
        skeletonRows={3}
        label={w.title}
        columns={columns}
        rowsOf={({ pages }) => pages.flatMap((page) => page.quotas)}
        keyOf={({ prefix }) => prefix}
        empty={<Empty title={w.none}>{w.noneWhy}</Empty>}
      />
      <Dialog title={w.set} isOpen={edited !== undefined} onClose={() => setEdited(undefined)}>
        {edited && (
          <QuotaForm quota={edited === 'new' ? undefined : edited} onDone={() => setEdited(undefined)} />
        )}
      </Dialog>
      {removed && <Remove prefix={removed.prefix} onClose={() => setRemoved(undefined)} />}
    </>
  )
}

function usedOf(quota: Quota, member: Member): string {
  const shown = (value: number) => (member === 'storedBytes' ? formatBytes(value) : String(value))
  const max = quota[member]
  return w.usedOf(shown(quota.used[member]), max === null ? w.any : shown(max))
}

const textOf = (bound: number | null | undefined) =>
  bound === null || bound === undefined ? '' : String(bound)

function QuotaForm({ quota, onDone }: { quota: Quota | undefined; onDone: () => void }) {
  const [prefix, setPrefix] = useState(quota?.prefix ?? '')
  const [bounds, setBounds] = useState<Record<Member, string>>({
    topics: textOf(quota?.topics),
    subscriptions: textOf(quota?.subscriptions),
    storedBytes: textOf(quota?.storedBytes),
  })
  const save = useWrite(operations.putQuota)
  const body: QuotaSettings = Object.fromEntries(
    MEMBERS.map((member) => [member, bounds[member] === '' ? null : Number(bounds[member])]),
  )
  const input = { path: { prefix }, body }
  return (
    <WriteForm
      write={save}
      action={w.set}
      onSend={() => save.mutate(input, { onSuccess: onDone })}
      isReady={prefix !== '' && MEMBERS.some((member) => bounds[member] !== '')}
      call={callOf(operations.putQuota, input)}
    >
      <TextInput
        label={w.prefix}
        hint={w.prefixHint}
        value={prefix}
        onChange={setPrefix}
        isRequired
        problem={problemAt(save.error, 'prefix')}
      />
      {MEMBERS.map((member) => (
        <TextInput
          key={member}
          label={w.members[member]}
          type="number"
          min={0}
          value={bounds[member]}
          onChange={(value) => setBounds({ ...bounds, [member]: value })}
          problem={problemAt(save.error, member)}
        />
      ))}
    </WriteForm>
  )
}

function Remove({ prefix, onClose }: { prefix: string; onClose: () => void }) {
  const remove = useWrite(operations.deleteQuota)
  return (
    <Confirm
      title={w.removeTitle(prefix)}
      action={w.remove}
      name={prefix}
      isOpen
      write={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({ path: { prefix } }, { onSuccess: onClose })}
    >
      <p>{w.removeWhat}</p>
    </Confirm>
  )
}
