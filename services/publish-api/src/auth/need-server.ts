/** What concerns the whole server is for keys of its own account that are bound to no names. */
import { type Key, needAllNames } from '@fantail/access'
import { FantailError } from '@fantail/contracts'

/** Throws `forbidden`. */
export function needServer(key: Key, account: string): void {
  needAllNames(key)
  if (key.account !== account) throw new FantailError('forbidden', `this is for keys of account ${account}`)
}
