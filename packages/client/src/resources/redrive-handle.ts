/** Redrives: tasks that move dead letters back. */
import type { Client } from '../generated/client/index.ts'
import {
  cancelRedrive,
  getRedrive,
  type ListRedrivesData,
  listRedrives,
  pauseRedrive,
  type Redrive,
  type RedriveDryRun,
  type RedriveInput,
  type RedriveRateInput,
  resumeRedrive,
  startRedrive,
  updateRedrive,
} from '../generated/index.ts'
import type { CallOptions } from '../transport/core-request.ts'
import { Listing } from './listing.ts'

export class RedriveHandle {
  readonly id: string
  readonly #at: { client: Client; path: { id: string } }

  constructor(client: Client, id: string) {
    this.id = id
    this.#at = { client, path: { id } }
  }

  get(options?: CallOptions): Promise<Redrive> {
    return getRedrive({ ...this.#at, ...options })
  }

  update(changes: RedriveRateInput, options?: CallOptions): Promise<Redrive> {
    return updateRedrive({ ...this.#at, ...options, body: changes })
  }

  pause(options?: CallOptions): Promise<Redrive> {
    return pauseRedrive({ ...this.#at, ...options })
  }

  resume(options?: CallOptions): Promise<Redrive> {
    return resumeRedrive({ ...this.#at, ...options })
  }

  /** Messages that have been moved stay at their new place. */
  cancel(options?: CallOptions): Promise<Redrive> {
    return cancelRedrive({ ...this.#at, ...options })
  }
}

type RedriveFilter = Omit<NonNullable<ListRedrivesData['query']>, 'cursor'>

export interface RedrivesOf {
  (id: string): RedriveHandle
  start(settings: RedriveInput, options?: CallOptions): Promise<Redrive>
  /** Counts what a redrive would move. */
  dryRun(settings: RedriveInput, options?: CallOptions): Promise<RedriveDryRun>
  list(filter?: RedriveFilter, options?: CallOptions): Listing<Redrive>
}

export function redrivesOf(client: Client): RedrivesOf {
  const start = (body: RedriveInput, options?: CallOptions) => startRedrive({ client, ...options, body })
  return Object.assign((id: string) => new RedriveHandle(client, id), {
    start: (settings: RedriveInput, options?: CallOptions) =>
      start({ ...settings, dryRun: false }, options) as Promise<Redrive>,
    dryRun: (settings: RedriveInput, options?: CallOptions) =>
      start({ ...settings, dryRun: true }, options) as Promise<RedriveDryRun>,
    list: (filter: RedriveFilter = {}, options?: CallOptions) =>
      new Listing<Redrive>(async (cursor) => {
        const page = await listRedrives({ client, ...options, query: { ...filter, cursor } })
        return { items: page.redrives, nextCursor: page.nextCursor }
      }),
  })
}
