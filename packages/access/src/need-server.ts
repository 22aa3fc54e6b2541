/**
 * Guards actions that concern the whole server and not one account. They need a key of the server's own account without
 * prefixes.
 */
import { FantailError } from '@fantail/contracts'
import { type Key, needAllNames } from './caller.ts'

/** Throws `forbidden`. */
export function needServer(key: Key, account: string): void {
  needAllNames(key)
  if (key.account !== account) throw new FantailError('forbidden', `this is for keys of account ${account}`)
}
