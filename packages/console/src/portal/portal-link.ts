/**
 * The token of the link is behind the `#` of the address. It is removed before any request is sent, so it does not stay
 * in the history. The session's token is kept only in memory.
 */

import { send } from '../api/send.ts'
import { keepBearer } from '../api/session.ts'
import type { CreatedPortalSession } from './portal-calls.ts'
import { redeemPortalLink } from './portal-calls.ts'

/** '' if the address has none. */
export function takeToken(): string {
  const token = location.hash.slice(1)
  history.replaceState(null, '', location.pathname)
  return token
}

let opened: Promise<CreatedPortalSession> | undefined

/** A link works once. So it is used once, even if the screen is drawn several times. */
export function openLink(token: string): Promise<CreatedPortalSession> {
  opened ??= send(redeemPortalLink, { body: { token } }).then((session) => {
    keepBearer(session.token)
    return session
  })
  return opened
}
