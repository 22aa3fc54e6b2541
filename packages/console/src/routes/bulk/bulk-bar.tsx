/** Acts on many lanes: on the chosen rows, or on all that the filter matches. A plan is shown first. */
import { useState } from 'react'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { Select } from '../../parts/fields.tsx'
import css from '../../parts/parts.module.css'
import { type BulkAction, type BulkSelect, PlanDialog } from './bulk-dialog.tsx'

const w = words.bulk

const ACTIONS: readonly { value: BulkAction; label: string }[] = (
  ['pause', 'resume', 'retry', 'test', 'redrive', 'purge'] as const
).map((value) => ({ value, label: w.actions[value] }))

/** The action that helps lanes with this verdict. */
const HELPS: Partial<Record<NonNullable<BulkSelect['state']>, BulkAction>> = {
  paused: 'resume',
  failing: 'retry',
  hung: 'retry',
  circuitOpen: 'retry',
}

interface Props {
  /** The chosen rows. */
  chosen: ReadonlySet<string>
  /** The chosen rows as a selection. */
  ofChosen: (chosen: string[]) => BulkSelect
  /** All that the filter matches. undefined: no filter is set. */
  ofFilter: BulkSelect | undefined
  onClear: () => void
}

export function BulkBar({ chosen, ofChosen, ofFilter, onClear }: Props) {
  const [picked, setAction] = useState<BulkAction>()
  const action = picked ?? (ofFilter?.state && HELPS[ofFilter.state]) ?? 'pause'
  const [isOpen, setOpen] = useState(false)
  const select = chosen.size > 0 ? ofChosen([...chosen]) : ofFilter
  return (
    <fieldset className={css.row} aria-label={w.title}>
      <span className={css.quiet} role="status">
        {chosen.size > 0 ? w.chosen(chosen.size) : ofFilter ? w.allOfFilter : w.chooseFirst}
      </span>
      <Select<BulkAction> label={w.action} value={action} options={ACTIONS} onChange={setAction} />
      <Button isDisabled={select === undefined} onPress={() => setOpen(true)}>
        {w.plan}
      </Button>
      {chosen.size > 0 && (
        <Button kind="plain" onPress={onClear}>
          {w.clear}
        </Button>
      )}
      {select && (
        <PlanDialog action={action} select={select} isOpen={isOpen} onClose={() => setOpen(false)} />
      )}
    </fieldset>
  )
}
