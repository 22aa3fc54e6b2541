/**
 * Records in the checkpoint of a postponed job which of its messages are already in the rings of their topics. The next
 * start does not put these into the rings again, because the archive could then have them twice: a block may have taken
 * them from the ring meanwhile. A job that ends at its first start has no such note.
 *
 * The note of a topic is in the topic's own shard, so that a failover that loses the ring's latest writes also loses
 * the note.
 */
import { type NewKept, shardOf } from '@fantail/store'
import type { JobRun, KeptSome } from '../runs/job-run.ts'
import type { Checkpoints } from './checkpoints.ts'

const KEPT = 'kept.'
const BETWEEN = ' '

export class KeptNotes {
  readonly #checkpoints: Pick<Checkpoints, 'restore' | 'note'>

  constructor(checkpoints: Pick<Checkpoints, 'restore' | 'note'>) {
    this.#checkpoints = checkpoints
  }

  /** Those messages of one topic that no earlier start has kept. A first start need not ask. */
  async missing(run: JobRun, messages: NewKept[]): Promise<NewKept[]> {
    const [first] = messages
    if (!first) return []
    await this.#checkpoints.restore(run, shardOf(first.arn))
    const known = new Set(noted(run, first))
    return messages.filter((message) => !known.has(nameOf(message)))
  }

  /** Must be called when the run has ended and its job will start again. */
  async write(run: JobRun): Promise<void> {
    const certain = run.kept.filter(({ mark }) => mark?.holds() ?? true)
    await Promise.all(certain.map((some) => this.#write(run, some)))
  }

  async #write(run: JobRun, { messages, mark }: KeptSome): Promise<void> {
    const [first] = messages
    if (!first) return
    const names = [...noted(run, first), ...messages.map(nameOf)]
    const note: [string, string] = [`${KEPT}${first.uid}`, names.join(BETWEEN)]
    await this.#checkpoints.note(run, shardOf(first.arn), [note], mark)
  }
}

/** Whether a field of a checkpoint, as JobRun has restored it, is such a note. */
export function isKeptNote(field: string): boolean {
  return field.includes(`:${KEPT}`)
}

function noted({ restored }: JobRun, { arn, uid }: NewKept): string[] {
  const note = restored.get(`${shardOf(arn)}:${KEPT}${uid}`)
  return note ? String(note).split(BETWEEN) : []
}

function nameOf({ id }: NewKept): string {
  return id.toString('hex')
}
