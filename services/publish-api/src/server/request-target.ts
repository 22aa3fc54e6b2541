/**
 * Allows one host per request. An absolute request target (`GET http://host/path`) names a host in addition to the Host
 * header. The signature of AWS calls covers only the header, but links and queue URLs would be made from the target.
 * Both must therefore be equal, and the target is then served as its path. Its scheme must be the connection's too.
 * Otherwise `https://` in a target would count as a secure connection.
 */
import type { IncomingMessage } from 'node:http'

const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is

/** Why the request cannot be served. undefined: it can, and its target is now a path. */
export function settleTarget(incoming: Pick<IncomingMessage, 'url' | 'headers'>): string | undefined {
  // A request of HTTP/1.0 may have no Host header. Several are joined by commas, so they are not a valid host.
  const { host = '' } = incoming.headers
  if (host !== '' && !HOST.test(host)) return 'the Host header is no host'
  const [, scheme = '', authority = '', rest = ''] = ABSOLUTE.exec(incoming.url ?? '') ?? []
  if (scheme === '') return undefined
  if (!/^https?$/i.test(scheme)) return `nothing is served for targets of the scheme ${scheme}`
  if (authority.toLowerCase() !== host.toLowerCase()) return 'the request target names another host than Host'
  incoming.url = rest.startsWith('/') ? rest : `/${rest}`
  return undefined
}
