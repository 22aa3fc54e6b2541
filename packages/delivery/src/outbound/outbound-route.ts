/**
 * The outbound settings of a subscription beyond its URL: a forward proxy, a client certificate, further authorities,
 * headers. They are compiled once. A subscription without any has no route, and its attempts cost nothing extra.
 *
 * Different routes share neither connections nor TLS sessions. The client certificate of one route must never be used
 * for another.
 */
import { createHash, X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

interface ClientCertificate {
  /** PEM, the whole chain. */
  certificate: string
  /** PEM, without a passphrase. */
  privateKey: string
}

/** The client of a token server, whose access tokens authorize the requests (RFC 6749 §4.4). */
export interface OAuthOptions {
  tokenUrl: string
  clientId: string
  clientSecret: string
  scope?: string | undefined
  audience?: string | undefined
  /** Equal for equal credentials, and no secret. It is made when the credential is stored. */
  name?: string | undefined
}

export interface OutboundOptions {
  /** `http(s)://[user:password@]host[:port]`. Every connection is a tunnel through this proxy (CONNECT). */
  proxy?: string | undefined
  clientCertificate?: ClientCertificate | undefined
  /** PEM certificates, trusted in addition to the system's. */
  ca?: string | undefined
  /** Headers that are sent with every request, after Fantail's own. */
  headers?: Record<string, string> | undefined
  oauth?: OAuthOptions | undefined
}

export interface ProxyAddress {
  secure: boolean
  host: string
  port: number
  /** Value of Proxy-Authorization. */
  authorization: string | undefined
}

export interface Route {
  /** A digest of the settings that concern a connection. Routes with equal keys may share connections. */
  key: string
  proxy: ProxyAddress | undefined
  /** Names and values in turn. */
  headers: string[] | undefined
  /** The operator's settings name the host, so its address may be private. */
  isTrusted?: true
  /** Made when the first connection needs it. */
  secureContext(): SecureContext | undefined
}

/** The route to hosts that the operator's settings name. The list of denied addresses applies to them, too. */
export const TRUSTED_ROUTE: Route = {
  key: 'trusted',
  isTrusted: true,
  proxy: undefined,
  headers: undefined,
  secureContext: () => undefined,
}

/** undefined if there are no settings. Throws a TypeError without any secret in its text. */
export function compileRoute(options: OutboundOptions): Route | undefined {
  const { proxy, clientCertificate, ca, headers = {} } = options
  const flat = Object.entries(headers).flat()
  if (!proxy && !clientCertificate && !ca && flat.length === 0) return undefined
  let context: SecureContext | undefined
  return {
    // Headers belong to a request, not to its connection, so they are not part of the key.
    key: digest([proxy, clientCertificate?.certificate, clientCertificate?.privateKey, ca]),
    proxy: proxy === undefined ? undefined : readProxy(proxy),
    headers: flat.length > 0 ? flat : undefined,
    secureContext: () => {
      if (clientCertificate || ca) context ??= createContext({ clientCertificate, ca })
      return context
    },
  }
}

/** Throws a TypeError if a key or a certificate cannot be used. Its text does not contain them. */
export function checkTlsMaterial(material: Pick<OutboundOptions, 'clientCertificate' | 'ca'>): void {
  const { ca, clientCertificate } = material
  // OpenSSL reads a text without any certificate as an empty list, without an error.
  for (const text of [ca, clientCertificate?.certificate]) if (text !== undefined) checkCertificates(text)
  createContext(material)
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

function checkCertificates(text: string): void {
  const found = text.match(CERTIFICATE) ?? []
  const begun = text.split('-----BEGIN ').length - 1
  if (found.length === 0 || found.length !== begun) throw new TypeError('it is not PEM certificates alone')
  for (const pem of found) parseCertificate(pem)
}

function parseCertificate(pem: string): void {
  try {
    new X509Certificate(pem)
  } catch {
    throw new TypeError('it holds a certificate that cannot be read')
  }
}

function createContext({ clientCertificate, ca }: Pick<OutboundOptions, 'clientCertificate' | 'ca'>) {
  try {
    return createSecureContext({
      ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.privateKey }),
      ...(ca && { ca: [...getCACertificates('default'), ca] }),
    })
  } catch {
    throw new TypeError('the client certificate, its key or the authorities cannot be used')
  }
}

/** Throws a TypeError. */
export function readProxy(text: string): ProxyAddress {
  const url = URL.parse(text)
  const secure = url?.protocol === 'https:'
  if (!url || (!secure && url.protocol !== 'http:') || url.pathname !== '/' || url.search || url.hash)
    throw new TypeError('a proxy must be http(s)://host:port, with user:password@ where it wants them')
  return {
    secure,
    host: hostOf(url),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    authorization: authorizationOf(url),
  }
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  const plain = `${decodeUserinfo(username)}:${decodeUserinfo(password)}`
  return `Basic ${Buffer.from(plain).toString('base64')}`
}

/** Decodes percent escapes. A percent sign without two hex digits stays as it is. */
export function decodeUserinfo(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function digest(parts: (string | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

/** The host of a URL as sockets take it: an IPv6 address without its brackets. */
export function hostOf({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
