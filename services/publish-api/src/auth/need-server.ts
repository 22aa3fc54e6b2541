/**
 * Guards actions that concern the whole server and not one account. They need a key of the server's own account without
 * prefixes.
 */
import { type Key, needAllNames } from '@fantail/access'
import { FantailError } from '@fantail/contracts'

/** Throws `forbidden`. */
export function needServer(key: Key, account: string): void {
  needAllNames(key)
  if (key.account !== account) throw new FantailError('forbidden', `this is for keys of account ${account}`)
}
