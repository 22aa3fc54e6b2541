/**
 * All busy lanes with their verdicts, as of one instant. However many callers look, the lanes are read at most every
 * two seconds, and less often if that takes long. While nobody looks, nothing is read.
 */
import type { LaneSurvey, Quarantine, StorageHealthReader, SurveyedLane, Verdict } from '@fantail/store'
import { verdictOf } from '@fantail/store'
import { SharedRead } from '../caches/shared-read.ts'

export interface JudgedLane extends SurveyedLane {
  verdict: Verdict
}

export interface Board {
  /** Epoch ms. */
  at: number
  lanes: JudgedLane[]
  isComplete: boolean
  /** Rows that were made from this board, by subscription id. */
  rows: Map<string, object>
}

/** When the first message for a subscription was put into the quarantine, by subscription id. */
type Quarantined = ReadonlyMap<string, number>

interface BoardOptions {
  survey: Pick<LaneSurvey, 'read'>
  quarantine: Pick<Quarantine, 'list'>
  attemptTimeoutMs: number
  health: Pick<StorageHealthReader, 'read'>
  /** Epoch ms by Redis's clock. */
  clock: () => number
  /** A board is read again after this time. Tests set it to 0. */
  freshMs?: number
}

const FRESH_MS = 2_000
/** Entries of the quarantine that verdicts look at. Past it: later ones change no verdict. */
const QUARANTINED_MAX = 1_000

export class LaneBoard {
  readonly #options: BoardOptions
  readonly #board: SharedRead<Board>
  readonly #quarantined: SharedRead<Quarantined>
  /** Each attempt ends within this time, which verdicts use. */
  readonly attemptTimeoutMs: number

  constructor(options: BoardOptions) {
    const { freshMs = FRESH_MS } = options
    this.#options = options
    this.attemptTimeoutMs = options.attemptTimeoutMs
    this.#board = new SharedRead(() => this.#judge(), { freshMs })
    this.#quarantined = new SharedRead(() => this.#readQuarantine(), { freshMs })
  }

  read(): Promise<Board> {
    return this.#board.get()
  }

  quarantined(): Promise<Quarantined> {
    return this.#quarantined.get()
  }

  /** When the oldest message was published that no worker has fetched yet. undefined: none waits. */
  async undispatchedSince(): Promise<number | undefined> {
    const { jobs, oldestSeconds } = (await this.#options.health.read()).dispatch
    return jobs === 0 ? undefined : this.#options.clock() - oldestSeconds * 1_000
  }

  async #judge(): Promise<Board> {
    const [quarantined, undispatchedSince] = await Promise.all([this.quarantined(), this.undispatchedSince()])
    const { lanes, isComplete } = await this.#options.survey.read([...quarantined.keys()])
    const at = this.#options.clock()
    const { attemptTimeoutMs } = this
    const judged = lanes.map((lane) => {
      const { subscription, figures } = lane
      const quarantinedAt = quarantined.get(subscription.id)
      return {
        ...lane,
        verdict: verdictOf({
          figures,
          subscription,
          now: at,
          attemptTimeoutMs,
          quarantinedAt,
          undispatchedSince,
        }),
      }
    })
    return { at, lanes: judged, isComplete, rows: new Map() }
  }

  async #readQuarantine(): Promise<Quarantined> {
    const { items } = await this.#options.quarantine.list({ limit: QUARANTINED_MAX })
    const found = new Map<string, number>()
    for (const { subscriptionId, quarantinedAt: at } of items) {
      if (subscriptionId) found.set(subscriptionId, Math.min(at, found.get(subscriptionId) ?? at))
    }
    return found
  }
}
