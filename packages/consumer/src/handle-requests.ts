/**
 * Deletes and hides messages. Handles that are named in the same turn of the event loop share a request. A request that
 * fails is repeated, because deleting and hiding twice has the same result.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { HandleResult, MessageSource } from './sources/messages.ts'

/** Requests for one group of handles. Past it: the last error is thrown. */
const HANDLES_TRIES_MAX = 4
const HANDLES_PAUSE_MS = 100

interface Waiting {
  handle: string
  resolve(result: HandleResult): void
  reject(error: unknown): void
}

export class HandleRequests {
  readonly #source: MessageSource
  /** Waiting handles by action: `delete`, or the seconds for which they are hidden. */
  readonly #waiting = new Map<string | number, Waiting[]>()

  constructor(source: MessageSource) {
    this.#source = source
  }

  delete(handle: string): Promise<HandleResult> {
    return this.#add('delete', handle)
  }

  hide(handle: string, seconds: number): Promise<HandleResult> {
    return this.#add(seconds, handle)
  }

  #add(action: string | number, handle: string): Promise<HandleResult> {
    const waiting = this.#waiting.get(action) ?? []
    if (waiting.length === 0) {
      this.#waiting.set(action, waiting)
      setImmediate(() => this.#send(action))
    }
    return new Promise((resolve, reject) => waiting.push({ handle, resolve, reject }))
  }

  #send(action: string | number): void {
    const waiting = this.#waiting.get(action) ?? []
    this.#waiting.delete(action)
    for (let from = 0; from < waiting.length; from += this.#source.handlesMax)
      void this.#sendGroup(action, waiting.slice(from, from + this.#source.handlesMax))
  }

  async #sendGroup(action: string | number, group: Waiting[]): Promise<void> {
    const handles = group.map(({ handle }) => handle)
    try {
      const results = await this.#try(action, handles)
      for (const [index, { resolve }] of group.entries()) resolve(results[index])
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  async #try(action: string | number, handles: string[]): Promise<HandleResult[]> {
    for (let tries = 1; ; tries++) {
      try {
        if (typeof action === 'number') return await this.#source.hide(handles, action)
        return await this.#source.delete(handles)
      } catch (error) {
        if (tries === HANDLES_TRIES_MAX) throw error
        await sleep(Math.random() * HANDLES_PAUSE_MS * 2 ** tries)
      }
    }
  }
}
