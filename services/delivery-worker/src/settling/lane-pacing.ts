/**
 * Reports endpoints' answers to lanes with a retry mode or a circuit breaker. One script per shard reports all answers
 * since the last one. It runs before the delivery is settled, so that the next take already uses the new pace.
 */
import type { AttemptResult } from '@fantail/contracts'
import { answeredAs } from '@fantail/policy'
import { createStateLog, joinStates, type Logger } from '@fantail/runtime'
import type { LaneResult, Lanes } from '@fantail/store'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { ShardQueue } from './shard-queue.ts'

/** Answers that one script reports. Past it: a further script follows. */
const RESULTS_PER_SCRIPT_MAX = 500

export interface Circuit {
  open: boolean
  /** Redis time at which the circuit last closed. null: it is open, or has never been open. */
  closedAt: number | null
}

/** The lane whose endpoint answered. */
type PacedLane = Pick<CompiledSubscription, 'shard' | 'record' | 'policy'>

interface Item extends LaneResult {
  done(circuit: Circuit): void
}

export class LanePacing {
  readonly #lanes: Pick<Lanes, 'reportAnswers'>
  readonly #queue: ShardQueue<Item>
  readonly #onDue: (shard: number, nextDueAt: number | null) => void

  constructor(
    lanes: Pick<Lanes, 'reportAnswers'>,
    log: Logger,
    onDue: (shard: number, nextDueAt: number | null) => void,
  ) {
    this.#lanes = lanes
    this.#onDue = onDue
    this.#queue = new ShardQueue<Item>({
      batchMax: RESULTS_PER_SCRIPT_MAX,
      run: (shard, batch) => this.#run(shard, batch),
      // The pace of the lane does not learn of this answer.
      drop: (shard, { subscriptionId, done }, error) => {
        log.error({ shard, subscriptionId, err: error }, 'pacing.failed')
        done({ open: false, closedAt: null })
      },
      report: joinStates(createStateLog({ log, what: 'pacing', initial: 'up' })),
    })
  }

  /**
   * Reports an answer, and returns the state of the lane's circuit before it. If the circuit was open, the attempt was
   * a probe, or it began before the circuit opened. An attempt without a request is not a probe. The next probe may
   * then start at once, and only the retry policy delays it.
   */
  async answered(
    { shard, record, policy }: PacedLane,
    result: AttemptResult,
    cost: number,
  ): Promise<Circuit> {
    const answered = answeredAs(result, record.protocol, policy.healthyRetryPolicy)
    const circuit = await this.#note(shard, {
      subscriptionId: record.id,
      answered: answered ?? 'unsent',
      cost,
    })
    return { ...circuit, open: circuit.open && answered !== null }
  }

  /** Reports that a claim returned to its lane. The quota gets its tokens back. */
  unsent(shard: number, subscriptionId: string, cost: number): void {
    void this.#note(shard, { subscriptionId, answered: 'unsent', cost })
  }

  get pending(): number {
    return this.#queue.pending
  }

  whenIdle(): Promise<void> {
    return this.#queue.whenIdle()
  }

  #note(shard: number, result: LaneResult): Promise<Circuit> {
    return new Promise((done) => this.#queue.push(shard, { ...result, done }))
  }

  async #run(shard: number, batch: Item[]): Promise<void> {
    const { circuitOpen, circuitClosedAt, nextDueAt } = await this.#lanes.reportAnswers(shard, batch)
    batch.forEach((item, i) => {
      item.done({ open: circuitOpen[i] ?? false, closedAt: circuitClosedAt[i] ?? null })
    })
    this.#onDue(shard, nextDueAt)
  }
}
