/**
 * One host per request. An absolute request target (`GET http://host/path`) names a host beside the Host header; the
 * signature of AWS calls covers the header only, and everything that is derived (links, queue URLs) would come from the
 * target. So both must be the same, and the target is then served as its path. The scheme is the connection's, too:
 * `https://` in a target would else count as a secure transport.
 */
import type { IncomingMessage } from 'node:http'

const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is

/** Why the request cannot be served, or undefined after making its target a path. */
export function settleTarget(incoming: Pick<IncomingMessage, 'url' | 'headers'>): string | undefined {
  // Requests of HTTP/1.0 may have none. Several are joined by commas, and so are no host.
  const { host = '' } = incoming.headers
  if (host !== '' && !HOST.test(host)) return 'the Host header is no host'
  const [, scheme = '', authority = '', rest = ''] = ABSOLUTE.exec(incoming.url ?? '') ?? []
  if (scheme === '') return undefined
  if (!/^https?$/i.test(scheme)) return `nothing is served for targets of the scheme ${scheme}`
  if (authority.toLowerCase() !== host.toLowerCase()) return 'the request target names another host than Host'
  incoming.url = rest.startsWith('/') ? rest : `/${rest}`
  return undefined
}
