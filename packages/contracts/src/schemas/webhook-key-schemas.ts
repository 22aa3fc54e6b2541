/** Keys of Standard Webhooks signatures over REST. */
import { z } from 'zod'
import { WEBHOOK_OVERLAP_SECONDS_DEFAULT, WEBHOOK_OVERLAP_SECONDS_MAX } from '../limits.ts'
import { WEBHOOK_ALGORITHMS } from '../records.ts'
import { named, Timestamp } from './shared-schemas.ts'

const Algorithm = z.enum(WEBHOOK_ALGORITHMS)

export const WebhookKeyInput = z.strictObject({
  algorithm: Algorithm.optional().describe('Default hmac-sha256'),
  secret: z
    .string()
    .max(200)
    .optional()
    .describe('Of hmac-sha256: one that the receiver has already, `whsec_` and 24 to 64 bytes in base64'),
  overlapSeconds: z
    .int()
    .min(0)
    .max(WEBHOOK_OVERLAP_SECONDS_MAX)
    .optional()
    .describe(`How long earlier keys go on signing beside it; default ${WEBHOOK_OVERLAP_SECONDS_DEFAULT}`),
})

const view = {
  id: z.string(),
  algorithm: Algorithm,
  publicKey: z.string().optional().describe('Of ed25519: `whpk_…`'),
  createdAt: Timestamp,
  expiresAt: Timestamp.nullable().describe('Of one that was replaced: when it stops signing'),
}

const WebhookKeyView = named('WebhookKey', z.object(view))
export const NewWebhookKeyView = z.object({
  ...view,
  secret: z.string().optional().describe('Of hmac-sha256: `whsec_…`. Shown here only'),
})
export const WebhookKeyList = z.object({ webhookKeys: z.array(WebhookKeyView) })
