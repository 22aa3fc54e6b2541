/** Lists of sessions over REST. */
import { z } from 'zod'
import { named, timestamp } from '../shared-schemas.ts'

export const SessionListAnswer = named(
  'SessionList',
  z
    .object({
      sessions: z
        .array(
          z.object({
            id: z.string().describe('Id of the session: a digest of its token, no secret.'),
            kind: z
              .enum(['console', 'portal'])
              .describe('The place where the session is used: console or portal.'),
            keyId: z.string().describe('Id of the key that it acts with, or that made its link.'),
            portal: z
              .string()
              .nullable()
              .describe('Id of the portal link, as in audit lines; null: no portal.'),
            bounds: z
              .array(z.string())
              .describe('Prefixes of topics, or ids of subscriptions, of a portal session; else empty.'),
            createdAt: timestamp('When the session began'),
            lastUsedAt: z
              .string()
              .nullable()
              .describe(
                'When it was used last, to the minute, ISO 8601 in UTC; null: unknown, as in the portal.',
              ),
            endsAt: timestamp('When the session ends at the latest'),
            current: z.boolean().describe('Whether it is the session of the caller.'),
          }),
        )
        .describe('Sessions that have not ended, those that end last first.'),
    })
    .meta({
      description: 'Sessions of the caller’s account.',
      examples: [
        {
          sessions: [
            {
              id: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
              kind: 'console',
              keyId: 'FKABCDEFGHIJKLMNOP23',
              portal: null,
              bounds: [],
              createdAt: '2026-11-21T09:30:00.000Z',
              lastUsedAt: '2026-11-21T09:41:00.000Z',
              endsAt: '2026-11-21T21:30:00.000Z',
              current: true,
            },
          ],
        },
      ],
    }),
)
