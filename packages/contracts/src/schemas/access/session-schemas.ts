/** Sessions of the console over REST. */
import { z } from 'zod'
import { KEY_SCOPES } from '../../api-key.ts'
import { named, namedInput, Timestamp } from '../shared-schemas.ts'

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
        .describe('The key that the caller acts with; null: none is asked for.'),
      endsAt: Timestamp.nullable().describe(
        'When the session ends at the latest: ISO 8601 in UTC. It ends sooner after an hour without a request. null: there is no session.',
      ),
    })
    .meta({
      description: 'The caller, and the session if there is one.',
      examples: [
        {
          keysRequired: true,
          csrfToken: '4bq7fVnqk3WkQm0q8y6XoUQ1m9x0pQw2Zb1c5d7e9fA',
          key: { id: 'FKABCDEFGHIJKLMNOP23', account: '000000000000', scopes: ['read'], prefixes: [] },
          endsAt: '2026-11-21T21:30:00.000Z',
        },
      ],
    }),
)
