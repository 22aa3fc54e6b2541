/**
 * Where keys are not asked for, whatever reaches the port may do everything; a web page in the user's browser reaches
 * loopback. Two checks keep such pages out: the request must be for a name of this machine (a page whose own name was made
 * to resolve to 127.0.0.1 sends that name), and a browser must not have been sent here by another site. With keys neither is
 * needed: a page has none.
 */
import { FantailError } from '@fantail/contracts'
import type { Settings } from '../deps.ts'
import type { ApiRequest } from '../http/api-request.ts'

/** No public name can be one of these. */
const OWN = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|[a-z0-9-]+|[a-z0-9.-]+\.(localhost|internal|local|test))$/i
const HOSTS_REMEMBERED_MAX = 1_000

export type ForeignPages = (request: Pick<ApiRequest, 'url' | 'header'>) => FantailError | undefined

/** Why a request is a foreign page's doing, or undefined. */
export function createForeignPages({ publicUrl }: Pick<Settings, 'publicUrl'>): ForeignPages {
  const published = publicUrl === undefined ? undefined : URL.parse(publicUrl)?.hostname
  const known = new Map<string, boolean>()
  const isOwn = (authority: string): boolean => {
    let own = known.get(authority)
    if (own === undefined) {
      const host = authority.replace(/:\d*$/, '').replace(/\.$/, '')
      own = OWN.test(host) || host.toLowerCase() === published
      if (known.size >= HOSTS_REMEMBERED_MAX) known.clear()
      known.set(authority, own)
    }
    return own
  }
  return (request) => {
    const authority = authorityOf(request.url)
    if (!isOwn(authority)) return refusal(`${authority} is not a name of this machine`)
    const site = request.header('sec-fetch-site')
    if (site === 'cross-site' || site === 'same-site') return refusal('another site’s page asks')
    const origin = request.header('origin')
    if (origin !== undefined && authorityOf(origin) !== authority) return refusal('another site’s page asks')
    return undefined
  }
}

function authorityOf(url: string): string {
  const start = url.indexOf('://') + 3
  const end = url.indexOf('/', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

function refusal(why: string): FantailError {
  const help = 'to serve it here set FANTAIL_AUTH=on, or FANTAIL_PUBLIC_URL where that is its name'
  return new FantailError('forbidden', `${why}, and without keys only this machine is served: ${help}`)
}
