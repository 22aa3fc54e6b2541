/** Redrive tasks. */
import type { RedriveFilter, RedriveStatus, RedriveTask } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import type { Page } from './pages.ts'

export interface NewRedrive {
  source: string
  destination: string | null
  maxMessagesPerSecond: number | null
  filter: RedriveFilter
}

export interface RedriveCounts {
  matched: number
  /** By subscription ARN. */
  bySubscription: Record<string, number>
  /** By status code; `none` where there was no answer. */
  byStatusCode: Record<string, number>
}

export interface ListRedrives {
  source?: string
  status?: RedriveStatus
  cursor?: string
  limit: number
}

export class Redrives {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Starts a task, which the redrive service takes up by itself; `not_found`, `validation_failed`, `redrive_active`. */
  async create(input: NewRedrive): Promise<RedriveTask> {
    throw this.#later(input)
  }

  /** What `create` would match now; creates nothing; `not_found`. */
  async dryRun(source: string, filter: RedriveFilter): Promise<RedriveCounts> {
    throw this.#later(source, filter)
  }

  async get(id: string): Promise<RedriveTask | null> {
    throw this.#later(id)
  }

  /** Newest first. */
  async list(request: ListRedrives): Promise<Page<RedriveTask>> {
    throw this.#later(request)
  }

  /** Changes the rate of an active task (null: none); `not_found`, `wrong_state`. */
  async patch(id: string, change: { maxMessagesPerSecond: number | null }): Promise<RedriveTask> {
    throw this.#later(id, change)
  }

  /** `not_found`, `wrong_state`; as `resume` and `cancel`. */
  async pause(id: string): Promise<RedriveTask> {
    throw this.#later(id)
  }

  async resume(id: string): Promise<RedriveTask> {
    throw this.#later(id)
  }

  /** `canceling` while a batch is under way, `canceled` after it. */
  async cancel(id: string): Promise<RedriveTask> {
    throw this.#later(id)
  }

  #later(...given: unknown[]): Error {
    return new Error(`not yet: ${JSON.stringify(given)} ${this.#redis.status}`)
  }
}
