/** The key that signs links to unsubscribe. The first process that needs it makes and stores it. */
import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { MAIL_BASE } from '../keys/keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const KEEP = readScript('keep-mail-key-1')
const LINK_KEY_BYTES = 32

export class LinkKey {
  readonly #redis: Redis
  #key: Buffer | undefined

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async get(): Promise<Buffer> {
    this.#key ??= await this.#keep()
    return this.#key
  }

  async #keep(): Promise<Buffer> {
    const offered = randomBytes(LINK_KEY_BYTES).toString('base64')
    const kept = String(await runScript(this.#redis, KEEP, { base: MAIL_BASE, offered }))
    const key = Buffer.from(kept, 'base64')
    if (key.length !== LINK_KEY_BYTES) throw new Error('the key of unsubscribe links in Redis cannot be read')
    return key
  }
}
