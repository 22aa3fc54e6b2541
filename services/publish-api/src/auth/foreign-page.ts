/**
 * Refuses requests from web pages of other sites if keys are not required. Without keys, every request that reaches the
 * port may do everything. A web page in the user's browser can reach loopback, so two checks refuse such pages. First,
 * the request must name a host of this machine (own-hosts.ts in the package config). Second, no other site may have
 * made the browser send it. If keys are required, neither check is needed, because a page has no key.
 */
import { createOwnHosts, foreignHostText } from '@fantail/config'
import { FantailError } from '@fantail/contracts'
import type { Settings } from '../deps/api-deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import { authorityOf } from '../http/origin.ts'

type Asked = Pick<ApiRequest, 'url' | 'header'>

export interface ForeignPages {
  /**
   * Throws `forbidden` if local mode does not answer to the request's host name. It is called for everything that is
   * served without a key.
   */
  refuseHost(request: Asked): void
  /** Also throws `forbidden` for pages of other sites. It is called for everything except the targets of links. */
  refusePage(request: Asked): void
  /**
   * Like `refusePage`, for a request that may change something, even a GET. A page may send a GET for an image, without
   * Origin. Browsers name the requesting site (Sec-Fetch-Site) only to loopback and over https. A browser's GET that
   * does not name it is therefore refused. A browser that opens an address is refused as well. A page of another site
   * may have redirected it here, and it then names no site.
   */
  refuseBrowsing(request: Asked & Pick<ApiRequest, 'method'>): void
}

type PageSettings = Pick<Settings, 'mode' | 'publicUrl' | 'hosts' | 'corsOrigins'>

export function createForeignPages(settings: PageSettings): ForeignPages {
  const ownHosts = createOwnHosts(settings)
  const refuseHost = ({ url }: Asked) => {
    const authority = authorityOf(url)
    if (!ownHosts.has(authority)) throw new FantailError('forbidden', foreignHostText(authority))
  }
  const refusePage = (request: Asked) => {
    refuseHost(request)
    const site = request.header('sec-fetch-site')
    const origin = request.header('origin')
    // The operator has listed this origin.
    if (origin !== undefined && settings.corsOrigins?.includes(origin)) return
    const isForeign =
      site === 'cross-site' ||
      site === 'same-site' ||
      (origin !== undefined && authorityOf(origin) !== authorityOf(request.url))
    if (isForeign) throw new FantailError('forbidden', FOREIGN_PAGE)
  }
  const refuseBrowsing: ForeignPages['refuseBrowsing'] = (request) => {
    refusePage(request)
    if (isNavigation(request)) throw new FantailError('forbidden', NAVIGATION)
    if (request.method === 'POST' || request.header('sec-fetch-site') !== undefined) return
    if (BROWSER.test(request.header('user-agent') ?? '')) throw new FantailError('forbidden', BLIND_GET)
  }
  return { refuseHost, refusePage, refuseBrowsing }
}

/** A page cannot change this beginning of the header User-Agent. */
const BROWSER = /^Mozilla\//
const BLIND_GET =
  'a browser asks and does not say for which page, so without keys it is not served: use POST, another client, or https'

/**
 * Whether a browser opens the address, in a window or a frame. Older browsers send only the second header. So do
 * all browsers over plain HTTP to other hosts than localhost. A page cannot set either of them.
 */
export function isNavigation(request: Pick<ApiRequest, 'header'>): boolean {
  return (
    request.header('sec-fetch-mode') === 'navigate' || request.header('upgrade-insecure-requests') === '1'
  )
}

const NAVIGATION =
  'a browser opens this address, and another site may have led it here: without keys, call with another client'

const FOREIGN_PAGE =
  'another site’s page asks, and without keys only pages of this machine are served: to serve it set FANTAIL_AUTH=on'
