/** The order in which queues can be made: a dead-letter queue must exist before another queue names it. */
import { nameOfArn } from '@fantail/contracts'
import type { NamedState } from './state-file.ts'

interface QueueOrder {
  queues: NamedState[]
  /** Queues of a circle, such as one that is its own dead-letter queue. They get their redrive policy afterwards. */
  later: ReadonlySet<NamedState>
}

/** Names are compared without account and region. Two queues that share a name can only cause a longer plan. */
export function inQueueOrder(queues: NamedState[]): QueueOrder {
  const byName = new Map(queues.map((queue) => [nameOfArn(queue.name), queue]))
  const ordered = new Set<NamedState>()
  const later = new Set<NamedState>()
  const path = new Set<NamedState>()
  const visit = (queue: NamedState) => {
    if (ordered.has(queue)) return
    path.add(queue)
    const target = byName.get(targetOf(queue))
    if (target && path.has(target)) later.add(queue)
    else if (target) visit(target)
    path.delete(queue)
    ordered.add(queue)
  }
  queues.forEach(visit)
  return { queues: [...ordered], later }
}

/** The name of its dead-letter queue; '': it has none. */
function targetOf({ settings }: NamedState): string {
  const { deadLetterTargetArn } = (settings?.redrivePolicy ?? {}) as { deadLetterTargetArn?: unknown }
  return nameOfArn(String(deadLetterTargetArn ?? ''))
}
