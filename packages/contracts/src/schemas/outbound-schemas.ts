/**
 * Outbound settings of a subscription or a push consumer, beyond its URL. Secrets are accepted and never shown again.
 */
import { z } from 'zod'
import { givenMap } from './shared-schemas.ts'

/** @limit URL of a subscription's proxy. Past it: `validation_failed`. */
const PROXY_CHARS_MAX = 2_048
/** @limit A client certificate, or further authorities, in PEM. Past it: `validation_failed`. */
const CERTIFICATE_CHARS_MAX = 32_768
/** @limit Private key of a client certificate, in PEM. Past it: `validation_failed`. */
const PRIVATE_KEY_CHARS_MAX = 16_384

/** @limit Each member of a subscription's `oauth`. Past it: `validation_failed`. */
const OAUTH_CHARS_MAX = 2_048

const oauthText = z.string().min(1).max(OAUTH_CHARS_MAX)
const TokenUrl = oauthText.describe(
  '`http(s)` URL that answers with access tokens, without user and password.',
)
const ClientId = oauthText.describe('Id of the client, as the token server knows it.')
const Scope = oauthText.describe('Scopes to ask for, separated by spaces.')
const Audience = oauthText.describe('Audience to ask for, where the token server wants one.')

export const OutboundInput = z
  .strictObject({
    proxy: z
      .string()
      .min(1)
      .max(PROXY_CHARS_MAX)
      .nullish()
      .describe('`http(s)://[user:password@]host:port`. Every connection is a CONNECT tunnel through it.'),
    clientCertificate: z
      .strictObject({
        certificate: z
          .string()
          .min(1)
          .max(CERTIFICATE_CHARS_MAX)
          .describe('PEM, the whole chain, the client’s own certificate first.'),
        privateKey: z
          .string()
          .min(1)
          .max(PRIVATE_KEY_CHARS_MAX)
          .describe('PEM without a passphrase, of the first certificate. It is never shown again.'),
      })
      .nullish()
      .describe('Certificate and key shown to an endpoint that asks for a client certificate (mTLS).'),
    ca: z
      .string()
      .min(1)
      .max(CERTIFICATE_CHARS_MAX)
      .nullish()
      .describe('Certificates in PEM that are trusted in addition to the system’s authorities.'),
    headers: givenMap(z.string(), z.string())
      .nullish()
      .describe(
        'Headers sent with every request, at most 20 and 8,192 bytes together. The values are never shown again. `User-Agent` ' +
          'replaces the usual one.',
      ),
    oauth: z
      .strictObject({
        tokenUrl: TokenUrl,
        clientId: ClientId,
        clientSecret: oauthText.describe('Secret of the client. It is never shown again.'),
        scope: Scope.optional(),
        audience: Audience.optional(),
      })
      .nullish()
      .describe(
        'Each request carries a bearer token by OAuth 2 client credentials (RFC 6749 §4.4). Subscriptions only.',
      ),
  })
  .describe(
    'How the endpoint is reached beyond its URL. Members that are not given stay; null resets one or all.',
  )

export const OutboundView = z
  .object({
    proxy: z.string().nullable().describe('URL of the proxy, its password masked; null: direct connections.'),
    clientCertificate: z
      .object({ certificate: z.string().describe('PEM, the whole chain, without the private key.') })
      .nullable()
      .describe('Certificate shown to an endpoint that asks for one (mTLS); null: none.'),
    ca: z
      .string()
      .nullable()
      .describe('Certificates in PEM that are trusted in addition to the system’s. null: only the system’s.'),
    headers: z
      .array(z.string())
      .describe('Names of the headers sent with every request, without their values.'),
    oauth: z
      .object({
        tokenUrl: TokenUrl,
        clientId: ClientId,
        scope: Scope.nullable().describe('Scopes that are asked for; null: none.'),
        audience: Audience.nullable().describe('Audience that is asked for; null: none.'),
      })
      .nullable()
      .describe('How access tokens are asked for, without the secret; null: none are.'),
  })
  .describe('How the endpoint is reached beyond its URL, without secrets.')
