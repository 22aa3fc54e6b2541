/**
 * From its third start a job runs one message at a time and notes which: one that was under way at three deaths of a
 * worker in a row is set aside, so that it cannot keep its neighbours from being delivered. The notes of a job stand
 * together in one shard of its own: a note in the shard of its message's topic would outlive the message's turn.
 */
import { shardOf } from '@fantail/store'
import type { Checkpoints } from './checkpoints.ts'
import type { JobRun } from './job-run.ts'
import type { MessageContext } from './message-context.ts'

const CAUTIOUS_FROM_FENCE = 3
const DEATHS_MAX = 3
/** Which message a cautious run has under way: `<index>,<times in a row>`. */
const UNDER_WAY = 'under-way'
/** With the message's index: it was set aside, and is so for every later start. */
const ASIDE = 'aside.'

export interface CautiousRunsOptions {
  checkpoints: Pick<Checkpoints, 'restore' | 'note'>
  start(run: JobRun, index: number, context: MessageContext): Promise<void>
  setAside(run: JobRun, context: MessageContext, detail: string): Promise<void>
}

export function isCautious({ fence }: JobRun): boolean {
  return fence >= CAUTIOUS_FROM_FENCE
}

/** Whether an earlier start has set a message of the job aside, as far as the job's own checkpoint has been read. */
export function hasSetAside({ key, restored }: JobRun): boolean {
  const aside = `${shardOf(key)}:${ASIDE}`
  return [...restored.keys()].some((name) => name.startsWith(aside))
}

export class CautiousRuns {
  readonly #options: CautiousRunsOptions

  constructor(options: CautiousRunsOptions) {
    this.#options = options
  }

  async run(run: JobRun): Promise<void> {
    for (const [index, context] of run.messages.entries()) {
      if (run.lost) return
      if (await this.#killsWorkers(run, index, context)) continue
      await this.#options.start(run, index, context)
      await run.whenUnitsEnded()
    }
  }

  /** True where the message is set aside. The note is written before the message is touched. */
  async #killsWorkers(run: JobRun, index: number, context: MessageContext): Promise<boolean> {
    const { checkpoints, setAside } = this.#options
    const shard = shardOf(run.key)
    await checkpoints.restore(run, shard)
    if (run.restored.has(`${shard}:${ASIDE}${index}`)) return true
    const [noted, deaths] = String(run.restored.get(`${shard}:${UNDER_WAY}`) ?? '-1,0')
      .split(',')
      .map(Number)
    const times = noted === index ? (deaths ?? 0) + 1 : 1
    const kills = times > DEATHS_MAX
    if (kills) await setAside(run, context, 'worker died')
    await checkpoints.note(run, shard, kills ? [`${ASIDE}${index}`, '1'] : [UNDER_WAY, `${index},${times}`])
    return kills || run.lost
  }
}
