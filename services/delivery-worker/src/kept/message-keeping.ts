/**
 * Puts messages into the rings of topics that keep them, before their job ends or they leave their FIFO log. If a
 * worker dies before that, the next start or reader keeps the messages. Topics without a ring cost nothing. The first
 * messages after a pause are written at once, and those that come within KEEP_EVERY_MS of a write together by topic.
 *
 * A ring that nothing archives gives way when memory is short. Messages for an archive are always written, and their
 * job stays until they are.
 */
import type { TopicRecord } from '@fantail/contracts'
import { createStateLog, type Logger, type ReportState } from '@fantail/runtime'
import {
  isOutOfMemory,
  isScriptFault,
  KEPT_GIVE_WAY_SHARE,
  type KeptJob,
  type KeptMessages,
  type KeptUpkeep,
  type NewKept,
  type StorageGuard,
} from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'

/**
 * Time between two writes, each of which makes Redis write to its disk. Several topics are written at one time. Jobs
 * wait for the write, but their deliveries do not.
 */
const KEEP_EVERY_MS = 20

interface MessageKeepingOptions {
  kept: Pick<KeptMessages, 'keep' | 'keepJobs'>
  upkeep: Pick<KeptUpkeep, 'check'>
  storageGuard: Pick<StorageGuard, 'refresh' | 'sample'>
  log: Logger
}

/** Messages and whole jobs of a topic that are written together. */
interface Gathered {
  messages: NewKept[]
  jobs: KeptJob[]
  written: Promise<void>
}

export class MessageKeeping {
  readonly #options: MessageKeepingOptions
  readonly #report: ReportState
  /** By the topic's uid. */
  readonly #gathered = new Map<string, Gathered>()
  /** Whether memory is short, so that only messages for archives are kept. */
  #isShort = false
  /** When the last write began, by performance.now(). */
  #wroteAt = Number.NEGATIVE_INFINITY

  constructor(options: MessageKeepingOptions) {
    this.#options = options
    this.#report = createStateLog({ log: options.log, what: 'kept_messages', initial: 'up' })
  }

  /**
   * Keeps the messages. If memory is short, it keeps only those for archives. Rejects if Redis does not answer, as
   * every other write of the job does then, and if it refuses messages for archives. `job`: the job that has these
   * messages.
   */
  async keep(messages: NewKept[], job?: KeptJob): Promise<void> {
    const { upkeep, storageGuard } = this.#options
    await storageGuard.refresh()
    upkeep.check()
    const { usedBytes = 0, limitBytes = Number.POSITIVE_INFINITY } = storageGuard.sample ?? {}
    this.#isShort = usedBytes >= limitBytes * KEPT_GIVE_WAY_SHARE
    if (!this.#isShort) return this.#gatherAll(messages, job)
    const archived = messages.filter(({ isArchived }) => isArchived)
    if (archived.length < messages.length) this.#report('down', new Error('memory is short'))
    if (archived.length > 0) await this.#gatherAll(archived, job)
  }

  /** All messages of a job are of one topic. */
  async #gatherAll(messages: NewKept[], job: KeptJob | undefined): Promise<void> {
    if (job) {
      const gathered = this.#gather(job.uid)
      gathered.jobs.push(job)
      return gathered.written
    }
    // Topics fail separately: the master of one may be away.
    const written = messages.map((message) => {
      const gathered = this.#gather(message.uid)
      gathered.messages.push(message)
      return gathered.written
    })
    await Promise.all([...new Set(written)])
  }

  /** The content that the next write for the topic has so far. */
  #gather(uid: string): Gathered {
    const known = this.#gathered.get(uid)
    if (known) return known
    const content = { messages: [], jobs: [] }
    const gathered = { ...content, written: this.#writeSoon(uid, content) }
    this.#gathered.set(uid, gathered)
    return gathered
  }

  async #writeSoon(uid: string, content: Pick<Gathered, 'messages' | 'jobs'>): Promise<void> {
    const waitMs = this.#wroteAt + KEEP_EVERY_MS - performance.now()
    await new Promise<void>((resolve) => {
      if (waitMs > 0) setTimeout(resolve, waitMs)
      else setImmediate(resolve)
    })
    this.#gathered.delete(uid)
    this.#wroteAt = performance.now()
    try {
      const fault = await this.#write(content)
      if (fault) this.#report('down', fault)
      else if (!this.#isShort) this.#report('up')
    } catch (error) {
      this.#report('down', error)
      if (hasArchived(content) || !isRefusal(error)) throw error
    }
  }

  /** Returns why no job was kept whole although Redis works. Their messages are then kept one by one. */
  async #write({ messages, jobs }: Pick<Gathered, 'messages' | 'jobs'>): Promise<Error | undefined> {
    const { kept } = this.#options
    const { divided, fault } = await this.#writeJobs(jobs)
    const all = [...messages, ...divided.flatMap((job) => job.messages)]
    if (all.length > 0) await kept.keep(all)
    return fault
  }

  async #writeJobs(jobs: KeptJob[]): Promise<{ divided: KeptJob[]; fault?: Error }> {
    if (jobs.length === 0) return { divided: [] }
    try {
      return { divided: await this.#options.kept.keepJobs(jobs) }
    } catch (error) {
      if (!(error instanceof Error && isScriptFault(error))) throw error
      return { divided: jobs, fault: error }
    }
  }
}

/** A message in the form for its topic's ring. Its body is made when it is first read. */
export function keptForm(topic: KeptTopic, context: MessageContext): NewKept {
  return new KeptContext(topic, context)
}

/** Whether messages of the topic go into a ring. */
export function hasRing({ keepMessages, archive }: TopicRecord): boolean {
  return Boolean(keepMessages || archive)
}

type KeptTopic = Pick<TopicRecord, 'arn' | 'uid' | 'archive'>

class KeptContext implements NewKept {
  readonly arn: string
  readonly uid: string
  readonly isArchived: boolean
  readonly id: Buffer
  readonly #context: MessageContext

  constructor({ arn, uid, archive }: KeptTopic, context: MessageContext) {
    this.arn = arn
    this.uid = uid
    this.isArchived = Boolean(archive)
    this.id = context.id
    this.#context = context
  }

  get body(): string {
    return this.#context.body
  }
}

/** Redis ran the script and refused it permanently, or has no memory. To repeat the write would not help. */
function isRefusal(error: unknown): boolean {
  return isScriptFault(error) || isOutOfMemory(error)
}

/** Messages for an archive wait until Redis has memory, or until an operator has repaired a damaged key. */
function hasArchived({ messages, jobs }: Pick<Gathered, 'messages' | 'jobs'>): boolean {
  return [...messages, ...jobs.flatMap((job) => job.messages)].some(({ isArchived }) => isArchived)
}
