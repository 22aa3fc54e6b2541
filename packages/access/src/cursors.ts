/**
 * Sealed cursors for pages. A cursor names the last thing that a page has looked at. That may belong to another account
 * or to a name outside the key's prefixes. Subscription ids are secret too: anybody who knows one can unsubscribe it.
 * All processes share one sealing key. The first process that lists makes it, and it is stored beside the API keys.
 */
import type { ApiKeys } from '@fantail/store'
import { createMasterKeyText, createVault, parseMasterKey, type Vault } from '@fantail/vault'

const CONTEXT = 'cursor'
const SEALED = /^v1\./
/** No list has answered it, so each refuses it in its own words. */
const NO_CURSOR = '-'

export class Cursors {
  readonly #keys: Pick<ApiKeys, 'cursorKey'>
  #vault: Vault | undefined

  constructor(keys: Pick<ApiKeys, 'cursorKey'>) {
    this.#keys = keys
  }

  /** To be awaited before anything is sealed. */
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

  /** One that is not sealed is refused: of the caller's own making, it would count what stands behind a name. */
  async open(cursor: string): Promise<string> {
    await this.ready()
    if (!SEALED.test(cursor)) return NO_CURSOR
    const opened = this.#opened(cursor)
    if (opened !== undefined) return opened
    // A Redis that was emptied has another key since.
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
