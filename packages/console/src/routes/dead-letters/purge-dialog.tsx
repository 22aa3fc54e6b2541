/** Removes all letters that the filter matches. The dialog counts them first, and the user types the queue's name. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { operations } from '../../api/api-calls.ts'
import type { Queue } from '../../api/api-types.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { formatNumber } from '../../parts/formats.ts'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { isEmptyFilter, type LetterFilter } from './letter-filter.ts'

const w = words.deadLetters

interface Props {
  queue: Queue
  filter: LetterFilter
  /** The filter in words. */
  described: string
  isOpen: boolean
  onClose: () => void
}

export function Purge({ queue, filter, described, isOpen, onClose }: Props) {
  const path = { queue: queue.name }
  const chosen = isEmptyFilter(filter) ? {} : { filter }
  const purge = useWrite(operations.purgeQueue)
  const navigate = useNavigate()
  const { count, error } = useMatched(queue.name, chosen, isOpen)
  const done = (made: object) => {
    onClose()
    if ('id' in made) void navigate({ to: '/redrives/$id', params: { id: String(made.id) } })
  }
  return (
    <Confirm
      title={w.purgeTitle(queue.name)}
      action={w.purge}
      name={queue.name}
      isTyped
      isOpen={isOpen}
      isPending={purge.isPending || count === undefined}
      error={purge.error}
      onClose={onClose}
      onConfirm={() => purge.mutate({ path, body: chosen }, { onSuccess: done })}
    >
      {error ? <Failed error={error} /> : null}
      {count === undefined ? <Skeleton rows={1} /> : <p>{w.purgeCount(formatNumber(count))}</p>}
      <p>{w.purgeWhat(described)}</p>
    </Confirm>
  )
}

/** Counts what the purge would remove now, while the dialog is open. */
function useMatched(queue: string, chosen: { filter?: LetterFilter }, isOpen: boolean) {
  const { mutate, data, error } = useWrite(operations.purgeQueue)
  const text = JSON.stringify(chosen)
  useEffect(() => {
    if (isOpen) mutate({ path: { queue }, body: { ...(JSON.parse(text) as object), dryRun: true } })
  }, [isOpen, queue, text, mutate])
  return { count: data?.matched, error }
}
