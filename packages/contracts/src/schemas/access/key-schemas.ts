/** API keys over REST. */
import { z } from 'zod'
import {
  KEY_KINDS,
  KEY_NAME_CHARS_MAX,
  KEY_PREFIXES_MAX,
  KEY_REQUESTS_PER_SECOND_MAX,
  KEY_SCOPES,
} from '../../caller-records.ts'
import { CreatedAt, named, namedInput, pageOf, pageQuery } from '../shared-schemas.ts'

const Scope = z.enum(KEY_SCOPES)
const Kind = z.enum(KEY_KINDS)

export const KeyReference = z
  .string()
  .describe('Id of an API key: `FK` and 18 of `A-Z 2-7`. It is not secret.')

export const NewKeyInput = namedInput(
  'NewKey',
  z
    .strictObject({
      name: z.string().min(1).max(KEY_NAME_CHARS_MAX).describe('Name for people; it need not be unique.'),
      kind: Kind.optional().describe(
        'native: a bearer token for this API; aws: signs requests of the AWS protocols. Default native.',
      ),
      scopes: z
        .array(Scope)
        .min(1)
        .max(KEY_SCOPES.length)
        .describe('Everything the key may do. It can have only scopes that the caller’s own key has.'),
      prefixes: z
        .array(z.string().regex(/^[A-Za-z0-9_-]{1,256}$/, 'must be 1 to 256 of A-Z a-z 0-9 _ -'))
        .max(KEY_PREFIXES_MAX)
        .optional()
        .describe('Only topics and queues whose names begin with one of these. Default: all.'),
      account: z
        .string()
        .regex(/^\d{12}$/, 'must be 12 digits')
        .optional()
        .describe(
          'Account that the key acts for, 12 digits. Default, and the only one that a key can give: the caller’s own.',
        ),
      maxRequestsPerSecond: z
        .int()
        .min(1)
        .max(KEY_REQUESTS_PER_SECOND_MAX)
        .nullish()
        .describe(
          'Requests past this rate get 429. Default unlimited; a key with a limit must give at most its own.',
        ),
    })
    .refine(({ scopes, prefixes = [] }) => prefixes.length === 0 || !scopes.includes('sms'), {
      path: ['scopes'],
      message: 'must not have sms where prefixes are given: text messages cost the whole server money',
    })
    .meta({
      description: 'An API key to be made.',
      examples: [{ name: 'shop', scopes: ['publish'], prefixes: ['orders'] }],
    }),
)

const view = {
  id: z
    .string()
    .describe('Id of the key, no secret: `FK` and 18 of `A-Z 2-7`. For kind aws the access key id.'),
  kind: Kind.describe('native: a bearer token for this API; aws: signs requests of the AWS protocols.'),
  name: z.string().describe('Name for people; it need not be unique.'),
  account: z.string().describe('Account that the key acts for, 12 digits.'),
  scopes: z
    .array(Scope)
    .describe(
      'Everything the key may do. publish: send; read: look; manage: create, change, delete, and what consume may; redrive: move dead letters, ' +
        'retry; consume: receive from queues; bodies: see the texts of messages without receiving them; sms: subscribe phone numbers and manage text messages, never for keys with prefixes.',
    ),
  prefixes: z
    .array(z.string())
    .describe('Beginnings of the names of topics and queues it is bound to; empty: all names.'),
  maxRequestsPerSecond: z.int().nullable().describe('Requests past this rate get 429; null: unlimited.'),
  limitedBy: z
    .array(
      z.object({
        id: z.string().describe('Id of a key that this one was made by, directly or not.'),
        maxRequestsPerSecond: z
          .int()
          .describe('Limit of the other key, against which requests of this key count.'),
      }),
    )
    .describe('Keys with a limit that made this key. Its requests count against their limits too.'),
  createdAt: CreatedAt,
}

const EXAMPLE = {
  id: 'FKABCDEFGHIJKLMNOP23',
  kind: 'native',
  name: 'shop',
  account: '000000000000',
  scopes: ['publish'],
  prefixes: ['orders'],
  maxRequestsPerSecond: null,
  limitedBy: [],
  createdAt: '2026-11-21T09:30:00.000Z',
}

export const KeyView = named(
  'Key',
  z.object(view).meta({ description: 'An API key without its token.', examples: [EXAMPLE] }),
)

export const NewKeyView = named(
  'CreatedKey',
  z
    .object({
      ...view,
      token: z
        .string()
        .optional()
        .describe(
          'Only for kind native: the token, sent as `Authorization: Bearer …`. It is shown here only.',
        ),
      accessKeyId: z.string().optional().describe('Only for kind aws: the access key id for AWS clients.'),
      secretAccessKey: z
        .string()
        .optional()
        .describe('Only for kind aws: the secret access key for AWS clients. It is shown here only.'),
    })
    .meta({
      description: 'A key that was just made, with its token. No other answer shows the token.',
      examples: [
        { ...EXAMPLE, token: 'ft_FKABCDEFGHIJKLMNOP23_q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0x1C' },
      ],
    }),
)

export const KeyListQuery = z.strictObject(pageQuery)
export const KeyList = named('KeyList', pageOf('keys', KeyView))
