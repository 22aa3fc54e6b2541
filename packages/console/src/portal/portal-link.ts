/** The link that opened the portal, and the session that it opens. */
import { type CreatedPortalSession, redeemPortalLink } from '@fantail/client/api'
import { keepBearer, send } from '../api/send.ts'

interface Link {
  /** Behind the `#` of the address; '' if there is none. */
  token: string
  /** `?language=de`; null: the browser's. */
  language: string | null
}

/**
 * The token is removed from the address before any request is sent, so that it does not stay in the history. The
 * language stays there, for the page that asks for a new link.
 */
export function takeLink(): Link {
  const token = location.hash.slice(1)
  history.replaceState(null, '', location.pathname + location.search)
  return { token, language: new URLSearchParams(location.search).get('language') }
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
