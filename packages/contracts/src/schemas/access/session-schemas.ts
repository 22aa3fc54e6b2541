/** Sessions of the console over REST. */
import { z } from 'zod'
import { KEY_SCOPES } from '../../caller-records.ts'
import { named, namedInput, Timestamp, timestamp } from '../shared-schemas.ts'

/** Text that a login takes for a key. Past it: `validation_failed`. */
const LOGIN_KEY_CHARS_MAX = 200

export const LoginInput = namedInput(
  'Login',
  z
    .strictObject({
      key: z.string().min(1).max(LOGIN_KEY_CHARS_MAX).describe('The token of a native API key: `ft_…`.'),
    })
    .meta({
      description: 'The key that a session of the console acts with.',
      examples: [{ key: 'ft_FKABCDEFGHIJKLMNOP23_q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0x1C' }],
    }),
)

export const SessionView = named(
  'Session',
  z
    .object({
      keysRequired: z.boolean().describe('false: this server asks for no keys, and needs no login.'),
      csrfToken: z
        .string()
        .nullable()
        .describe('Sent as `X-Fantail-CSRF` with every request of the session. null: there is no session.'),
      key: z
        .object({
          id: z.string().describe('Id of the key, no secret.'),
          account: z.string().describe('Account that the key acts for, 12 digits.'),
          scopes: z.array(z.enum(KEY_SCOPES)).describe('Everything the key may do.'),
          prefixes: z
            .array(z.string())
            .describe('Beginnings of the names of topics and queues it is bound to; empty: all names.'),
        })
        .nullable()
        .describe('The key that the caller acts with; null: no key is required.'),
      endsAt: Timestamp.nullable().describe(
        'When the session ends at the latest: ISO 8601 in UTC. It ends sooner after an hour without a request. null: there is no session.',
      ),
      server: z
        .object({
          partition: z.string().describe('Partition of names without an ARN.'),
          region: z.string().describe('Region of names without an ARN (`FANTAIL_REGION`).'),
          account: z.string().describe('Account of names without an ARN (`FANTAIL_ACCOUNT`).'),
          hasMasterKey: z.boolean().describe('Whether it can seal messages and keep secrets.'),
          hasArchives: z.boolean().describe('Whether topics can have archives.'),
        })
        .describe('The server, as far as every caller may know it.'),
    })
    .meta({
      description: 'The caller, and the session if there is one.',
      examples: [
        {
          keysRequired: true,
          csrfToken: '4bq7fVnqk3WkQm0q8y6XoUQ1m9x0pQw2Zb1c5d7e9fA',
          key: { id: 'FKABCDEFGHIJKLMNOP23', account: '000000000000', scopes: ['read'], prefixes: [] },
          endsAt: '2026-11-21T21:30:00.000Z',
          server: {
            partition: 'aws',
            region: 'us-east-1',
            account: '000000000000',
            hasMasterKey: true,
            hasArchives: false,
          },
        },
      ],
    }),
)

/** Lists of sessions over REST. */
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
        .describe('Sessions that have not ended. The session that ends last comes first.'),
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
