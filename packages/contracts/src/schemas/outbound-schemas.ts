/**
 * How an endpoint, a subscription's or a push consumer's, is reached beyond its URL. What is secret is taken and never
 * shown again.
 */
import { z } from 'zod'

/** @limit URL of a subscription's proxy. Past it: `validation_failed`. */
const PROXY_CHARS_MAX = 2_048
/** @limit A client certificate, or further authorities, in PEM. Past it: `validation_failed`. */
const CERTIFICATE_CHARS_MAX = 32_768
/** @limit Private key of a client certificate, in PEM. Past it: `validation_failed`. */
const PRIVATE_KEY_CHARS_MAX = 16_384

export const OutboundInput = z
  .strictObject({
    proxy: z
      .string()
      .min(1)
      .max(PROXY_CHARS_MAX)
      .nullish()
      .describe('http(s)://[user:password@]host:port; every connection is a tunnel through it'),
    clientCertificate: z
      .strictObject({
        certificate: z.string().min(1).max(CERTIFICATE_CHARS_MAX).describe('PEM, the whole chain'),
        privateKey: z
          .string()
          .min(1)
          .max(PRIVATE_KEY_CHARS_MAX)
          .describe('PEM without a passphrase; never shown again'),
      })
      .nullish()
      .describe('What the endpoint is shown (mTLS)'),
    ca: z
      .string()
      .min(1)
      .max(CERTIFICATE_CHARS_MAX)
      .nullish()
      .describe('PEM certificates, trusted beside the system’s'),
    headers: z
      .record(z.string(), z.string())
      .nullish()
      .describe('Sent with every request; the values are never shown again'),
  })
  .describe('`null` resets it, or a member of it; members that are not given stay')

export const OutboundView = z.object({
  proxy: z.string().nullable().describe('Its password masked'),
  clientCertificate: z.object({ certificate: z.string() }).nullable(),
  ca: z.string().nullable(),
  headers: z.array(z.string()).describe('Names'),
})
