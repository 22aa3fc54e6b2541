/** Removes dead letters for good: all, or those of one reason, since the API purges by nothing else. */
import { operations } from '../../api/api-calls.ts'
import type { Queue } from '../../api/api-types.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import type { LetterFilter } from './letter-filter.ts'
import { lettersIn } from './letters-of.ts'

const w = words.deadLetters

interface Props {
  queue: Queue
  filter: LetterFilter
  isOpen: boolean
  onClose: () => void
}

export function Purge({ queue, filter, isOpen, onClose }: Props) {
  const { reason, statusCode, subscription } = filter
  const purge = useWrite(operations.purgeQueue)
  const counts = useRead(operations.countDeadLetters, { path: { queue: queue.name } }, { enabled: isOpen })
  const count = reason === undefined ? lettersIn(queue) : (counts.data?.byReason[reason] ?? 0)
  // A narrower filter than the API can purge by must not remove more than it matches.
  if (statusCode !== undefined || subscription !== undefined) {
    return (
      <Dialog title={w.purge} isOpen={isOpen} onClose={onClose}>
        <p>{w.purgeByReason}</p>
        <Button onPress={onClose}>{words.close}</Button>
      </Dialog>
    )
  }
  return (
    <Confirm
      title={w.purgeTitle(count, queue.name)}
      action={w.purge}
      name={queue.name}
      count={count}
      isOpen={isOpen}
      isPending={purge.isPending}
      error={purge.error}
      onClose={onClose}
      onConfirm={() =>
        purge.mutate({ path: { queue: queue.name }, body: { reason } }, { onSuccess: onClose })
      }
    >
      <p>{w.purgeWhat(reason)}</p>
    </Confirm>
  )
}
