/**
 * Sealed cursors for pages. A cursor contains the name of the last item that a page has read. The caller may not be
 * allowed to see this item, because it belongs to another account or has a name outside the key's prefixes. It may also
 * be a subscription id, which is secret: anybody who knows one can unsubscribe it. All processes share one sealing key.
 * The first process that lists items makes the key, and stores it next to the API keys.
 */
import type { ApiKeys } from '@fantail/store'
import { createMasterKeyText, createVault, parseMasterKey, type Vault } from '@fantail/vault'

const CONTEXT = 'cursor'
const SEALED = /^v1\./
/** No list issues this cursor. Every list therefore refuses it with its own error. */
const NO_CURSOR = '-'

export class Cursors {
  readonly #keys: Pick<ApiKeys, 'cursorKey'>
  #vault: Vault | undefined

  constructor(keys: Pick<ApiKeys, 'cursorKey'>) {
    this.#keys = keys
  }

  /** Must be awaited before `seal` is called. */
  async ready(): Promise<void> {
    if (!this.#vault) await this.#load()
  }

  async #load(): Promise<void> {
    const key = parseMasterKey(await this.#keys.cursorKey(createMasterKeyText()))
    if (!key) throw new Error('the key of cursors in Redis cannot be read')
    this.#vault = createVault([key])
  }

  seal(cursor: string): string {
    if (!this.#vault) throw new Error('the key of cursors is not there yet')
    return this.#vault.seal(cursor, CONTEXT)
  }

  /** Refuses a cursor that is not sealed. With a made-up cursor, a caller could find out which names exist. */
  async open(cursor: string): Promise<string> {
    await this.ready()
    if (!SEALED.test(cursor)) return NO_CURSOR
    const opened = this.#opened(cursor)
    if (opened !== undefined) return opened
    // The key in Redis may be a new one, because Redis was emptied. Load it and try again.
    await this.#load()
    return this.#opened(cursor) ?? NO_CURSOR
  }

  #opened(cursor: string): string | undefined {
    try {
      return this.#vault?.open(cursor, CONTEXT)
    } catch {
      return undefined
    }
  }
}
