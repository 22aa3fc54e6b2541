/** The client of a token server: what a request for an access token needs, compiled once per target. */
import { TOKEN_CREDENTIAL } from '@fantail/contracts'
import {
  compileRoute,
  hostOf,
  type OAuthOptions,
  type OutboundOptions,
  type Route,
} from './outbound-route.ts'

export interface OAuthClient {
  /** Name of the credential, without secrets. Subscriptions with the same credential have the same name. */
  name: string
  host: string
  tokenUrl: string
  /** Value of Authorization. */
  authorization: string
  /** The form. */
  body: string
  /** The endpoint's proxy and authorities. Its headers and client certificate are for the endpoint alone. */
  route: Route | undefined
}

export function compileOAuth(oauth: OAuthOptions, { proxy, ca }: OutboundOptions): OAuthClient {
  const { tokenUrl, clientId, clientSecret, scope, audience, name = '' } = oauth
  const host = hostOf(readTokenUrl(tokenUrl))
  const form = {
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
  }
  return {
    name: `${TOKEN_CREDENTIAL}${host}:${name}`,
    host,
    tokenUrl,
    authorization: `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`,
    body: new URLSearchParams(form).toString(),
    route: compileRoute({ proxy, ca }),
  }
}

/** Throws a TypeError without any secret in its text. */
export function readTokenUrl(text: string): URL {
  const url = URL.parse(text)
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (!url || !isHttp || url.username !== '' || url.password !== '' || url.hash !== '')
    throw new TypeError('a token URL must be http(s), without user, password and fragment')
  return url
}

/** Id and secret are encoded as in a form before they are joined (RFC 6749 §2.3.1). */
function encoded(text: string): string {
  return new URLSearchParams({ _: text }).toString().slice(2)
}
