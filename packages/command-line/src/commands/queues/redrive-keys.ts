/** Keys of `fantail redrive watch`: `p` pauses and resumes, `+` and `-` change the rate, `q` ends only the command. */
import { type Client, pauseRedrive, type Redrive, resumeRedrive, updateRedrive } from '@fantail/client/api'
import type { CommandContext } from '../../frame/command-context.ts'
import { hasKeys, readKeys } from '../../frame/terminal-keys.ts'

const FACTOR = 2
/** The rate that the first `-` sets, if the redrive has no limit. */
const FIRST_RATE = 100

export class RedriveKeys {
  readonly #context: CommandContext
  readonly #client: Client
  #task: Redrive | undefined
  #isLeft = false
  /** Gives the terminal back. */
  readonly stop: () => void

  constructor(context: CommandContext, client: Client) {
    this.#context = context
    this.#client = client
    if (hasKeys(context)) context.out.note('[p]ause or go on  [+/-] rate  [q] leave it running')
    this.stop = readKeys(context, (key) => {
      this.#press(key).catch((error: Error) => context.out.warn(`\n${error.message}`))
    })
  }

  /** Whether `q` was pressed. */
  get isLeft(): boolean {
    return this.#isLeft
  }

  /** The latest state, which keys change. */
  seen(task: Redrive): void {
    this.#task = task
  }

  async #press(key: string): Promise<void> {
    const task = this.#task
    if (key === 'q') this.#isLeft = true
    if (!task || task.endedAt !== null) return
    const at = { client: this.#client, path: { id: task.id } }
    if (key === 'p') {
      const act = task.status === 'paused' ? resumeRedrive : pauseRedrive
      this.#show(await act({ ...at, body: {} }))
    }
    if (key === '+' || key === '-') {
      const rate = newRate(task.maxMessagesPerSecond, key)
      this.#show(await updateRedrive({ ...at, body: { maxMessagesPerSecond: rate } }))
    }
  }

  #show(task: Redrive): void {
    this.#task = task
    const rate = task.maxMessagesPerSecond === null ? 'no limit' : `${task.maxMessagesPerSecond}/s`
    this.#context.out.note(`\nthe redrive is ${task.status}, rate ${rate}`)
  }
}

function newRate(rate: number | null, key: '+' | '-'): number | null {
  if (rate === null) return key === '+' ? null : FIRST_RATE
  return key === '+' ? rate * FACTOR : Math.max(1, Math.floor(rate / FACTOR))
}
