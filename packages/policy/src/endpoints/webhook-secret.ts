/** The form of a shared secret of Standard Webhooks. */

/** @limit Secret of a webhook key. Below it: `validation_failed`. */
const SECRET_BYTES_MIN = 24
/**
 * Svix allows 75 bytes, and Standard Webhooks 64.
 * @limit Secret of a webhook key. Past it: `validation_failed`.
 */
const SECRET_BYTES_MAX = 75
export const WEBHOOK_SECRET_PREFIX = 'whsec_'

/** The bytes that sign. */
export function webhookSecretBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64')
}

/**
 * Whether the text is `whsec_` with 24 to 75 bytes in base64, with or without padding. Node decodes any text and skips
 * what it cannot read, but libraries of receivers refuse such texts. So the bytes must give the same text again.
 */
export function isWebhookSecret(text: string): boolean {
  const bytes = webhookSecretBytes(text)
  if (bytes.length < SECRET_BYTES_MIN || bytes.length > SECRET_BYTES_MAX) return false
  const padded = WEBHOOK_SECRET_PREFIX + bytes.toString('base64')
  return text === padded || text === padded.replace(/=+$/, '')
}
