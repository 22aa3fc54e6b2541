/** API keys over REST. */
import { z } from 'zod'
import {
  KEY_KINDS,
  KEY_NAME_CHARS_MAX,
  KEY_PREFIXES_MAX,
  KEY_REQUESTS_PER_SECOND_MAX,
  KEY_SCOPES,
} from '../api-key.ts'
import { named, pageOf, pageQuery, Timestamp } from './shared-schemas.ts'

const Scope = z.enum(KEY_SCOPES)
const Kind = z.enum(KEY_KINDS)

export const NewKeyInput = z
  .strictObject({
    name: z.string().min(1).max(KEY_NAME_CHARS_MAX).describe('For people'),
    kind: Kind.optional().describe(
      'native (default): a bearer token; aws: signs requests of the AWS protocols',
    ),
    scopes: z.array(Scope).min(1).max(KEY_SCOPES.length).describe('At most the caller’s own'),
    prefixes: z
      .array(z.string().regex(/^[A-Za-z0-9_-]{1,256}$/, 'must be 1 to 256 of A-Z a-z 0-9 _ -'))
      .max(KEY_PREFIXES_MAX)
      .optional()
      .describe('Only topics and queues whose names begin with one of these; default all'),
    account: z
      .string()
      .regex(/^\d{12}$/, 'must be 12 digits')
      .optional()
      .describe('That the key acts for; another than the caller’s only by the command line'),
    maxRequestsPerSecond: z
      .int()
      .min(1)
      .max(KEY_REQUESTS_PER_SECOND_MAX)
      .nullish()
      .describe('Past it 429; default unlimited. By a key with a limit: at most that'),
  })
  .meta({ examples: [{ name: 'shop', scopes: ['publish'], prefixes: ['orders'] }] })

const view = {
  id: z.string(),
  kind: Kind,
  name: z.string(),
  account: z.string(),
  scopes: z.array(Scope),
  prefixes: z.array(z.string()),
  maxRequestsPerSecond: z.int().nullable(),
  limitedBy: z
    .array(z.object({ id: z.string(), maxRequestsPerSecond: z.int() }))
    .describe('Keys with a limit that it was made by: its requests count against these limits, too'),
  createdAt: Timestamp,
}

export const KeyView = named('Key', z.object(view))

export const NewKeyView = z.object({
  ...view,
  token: z.string().optional().describe('Of a native key: `Authorization: Bearer …`. Shown here only'),
  accessKeyId: z.string().optional().describe('Of an access key: the id'),
  secretAccessKey: z.string().optional().describe('Of an access key. Shown here only'),
})

export const KeyListQuery = z.strictObject(pageQuery)
export const KeyList = pageOf('keys', KeyView)
