/** Schemas of Standard Webhooks keys over REST. */
import { z } from 'zod'
import {
  WEBHOOK_KEYS_MAX,
  WEBHOOK_OVERLAP_SECONDS_DEFAULT,
  WEBHOOK_OVERLAP_SECONDS_MAX,
} from '../../limits.ts'
import { WEBHOOK_ALGORITHMS } from '../../records.ts'
import { CreatedAt, named, namedInput, Timestamp } from '../shared-schemas.ts'

const Algorithm = z.enum(WEBHOOK_ALGORITHMS)

export const WebhookKeyInput = namedInput(
  'WebhookKeyInput',
  z
    .strictObject({
      algorithm: Algorithm.optional().describe(
        'hmac-sha256: a secret that both sides share; ed25519: a key pair. Default hmac-sha256.',
      ),
      secret: z
        .string()
        .max(200)
        .optional()
        .describe(
          'hmac-sha256 only: a secret that the receiver has already, `whsec_` and 24 to 75 bytes in base64. If ' +
            'the newest key has it, no other is made. Default: a new random one.',
        ),
      overlapSeconds: z
        .int()
        .min(0)
        .max(WEBHOOK_OVERLAP_SECONDS_MAX)
        .optional()
        .describe(
          `How long earlier keys still sign together with the new one. Default ${WEBHOOK_OVERLAP_SECONDS_DEFAULT}.`,
        ),
    })
    .meta({
      description: 'A signing key to be made; without members a shared secret is made up.',
      examples: [{}, { algorithm: 'ed25519', overlapSeconds: 3_600 }],
    }),
)

const view = {
  id: z.string().describe('Id of the key: 16 hex digits. It does not show the secret.'),
  algorithm: Algorithm.describe('Kind of key: a shared secret (hmac-sha256) or a key pair (ed25519).'),
  publicKey: z
    .string()
    .optional()
    .describe('ed25519 only: the key that receivers verify with, `whpk_` and base64.'),
  createdAt: CreatedAt,
  expiresAt: Timestamp.nullable().describe(
    'When a replaced key stops signing: ISO 8601 in UTC. null: the newest key, which has no end.',
  ),
}

const EXAMPLE = {
  id: '3f9a0c1b2d4e5f60',
  algorithm: 'hmac-sha256',
  createdAt: '2026-11-21T09:30:00.000Z',
  expiresAt: null,
}

const WebhookKeyView = named(
  'WebhookKey',
  z
    .object(view)
    .meta({ description: 'A key of Standard Webhooks signatures, without its secret.', examples: [EXAMPLE] }),
)
export const NewWebhookKeyView = named(
  'CreatedWebhookKey',
  z
    .object({
      ...view,
      secret: z
        .string()
        .optional()
        .describe('hmac-sha256 only: what receivers verify with, `whsec_…`. It is shown here only.'),
    })
    .meta({
      description: 'A signing key that was just made. No other answer shows its secret.',
      examples: [{ ...EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw5kq0WlG7N0s=' }],
    }),
)
export const WebhookKeyList = named(
  'WebhookKeyList',
  z
    .object({
      webhookKeys: z
        .array(WebhookKeyView)
        .describe(`The keys that sign now, newest first: at most ${WEBHOOK_KEYS_MAX}.`),
    })
    .meta({ examples: [{ webhookKeys: [EXAMPLE] }] }),
)
