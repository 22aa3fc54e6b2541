/** Deletes and hides received messages by their receipt handles. */
import type { Redis } from 'ioredis'
import { readScript, runScript } from '../../redis/scripts.ts'
import { queueMissing } from './queue-errors.ts'
import { parseHandle } from './queue-items.ts'
import {
  atQueue,
  type HandleResult,
  type HandleRule,
  type QueueUse,
  type VisibilityChange,
} from './queue-records.ts'

const ACK = readScript('ack-messages-1')
const CHANGE_VISIBILITY = readScript('change-visibility-1')

const INVALID_HANDLE: HandleResult = { ok: false, error: 'invalid_receipt_handle' }
const EXPIRED_HANDLE: HandleResult = { ok: false, error: 'expired_receipt_handle' }
/** Results by the numbers that ack-messages returns. */
const ACK_RESULTS: HandleResult[] = [INVALID_HANDLE, { ok: true }, EXPIRED_HANDLE]

export class QueueHandles {
  readonly #redis: Redis
  readonly #use: QueueUse | undefined

  constructor(redis: Redis, use: QueueUse | undefined) {
    this.#redis = redis
    this.#use = use
  }

  /**
   * Deletes by handle, in order. Throws `not_found`. A handle of any receive works, also after its time. The handle of
   * a deleted message counts as done, as in SQS. A FIFO queue refuses handles of earlier receives and expired ones
   * while the message exists. `newestOnly`: on a standard queue too, a handle of an earlier receive deletes nothing,
   * and counts as done.
   */
  async ack(
    arn: string,
    handles: string[],
    { newestOnly = false }: HandleRule = {},
  ): Promise<HandleResult[]> {
    const results = await this.#byHandle(handles, async (known) => {
      const args = { ...atQueue(arn), newestOnly, handles: known }
      const replies = (await runScript(this.#redis, ACK, args)) as number[] | null
      return replies?.map((result) => ACK_RESULTS[result] ?? INVALID_HANDLE)
    })
    const deleted = results.filter(({ ok }) => ok).length
    if (deleted > 0) this.#use?.deleted(arn, deleted)
    return results
  }

  /**
   * Hides each message in flight for its time, in order. Throws `not_found`. On a standard queue a handle of any
   * receive works. `newestOnly`: handles of earlier receives change nothing.
   */
  async changeVisibility(
    arn: string,
    changes: VisibilityChange[],
    { newestOnly = false }: HandleRule = {},
  ): Promise<HandleResult[]> {
    const handles = changes.map(({ handle }) => handle)
    return this.#byHandle(handles, async (known, places) => {
      const msOf = (place: number) => Math.round((changes[place]?.seconds ?? 0) * 1_000)
      const changed = known.map((handle, i) => ({ ...handle, ms: msOf(places[i] ?? 0) }))
      const args = { ...atQueue(arn), newestOnly, changes: changed }
      const results = await runScript(this.#redis, CHANGE_VISIBILITY, args)
      return (results as Buffer[] | null)?.map((result) => visibilityResult(String(result)))
    })
  }

  /** Does not pass texts that cannot be handles to the script. Each result keeps its position. */
  async #byHandle(
    handles: string[],
    run: (known: Handle[], places: number[]) => Promise<HandleResult[] | undefined>,
  ): Promise<HandleResult[]> {
    const parsed = handles.map(parseHandle)
    const places = parsed.flatMap((parts, place) => (parts === undefined ? [] : [place]))
    const known = parsed.filter((parts) => parts !== undefined)
    const results = await run(
      known.map(([uid, id, digest]) => ({ uid, id, digest })),
      places,
    )
    if (results === undefined) throw queueMissing()
    let next = 0
    return parsed.map((parts) => {
      const result = parts === undefined ? undefined : results[next++]
      return result ?? INVALID_HANDLE
    })
  }
}

interface Handle {
  /** The queue's uid. */
  uid: string
  id: string
  digest: Buffer
}

function visibilityResult(result: string): HandleResult {
  switch (result) {
    case 'ok':
      return { ok: true }
    case 'invalid':
      return INVALID_HANDLE
    case 'expired':
      return EXPIRED_HANDLE
    case 'limit':
      return { ok: false, error: 'visibility_limit_exceeded' }
    default:
      return { ok: false, error: 'message_not_available' }
  }
}
