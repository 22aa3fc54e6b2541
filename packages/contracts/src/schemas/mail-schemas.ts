/** Schemas of mail over REST: the suppression list and imports of bounces. */
import { z } from 'zod'
import { BOUNCES_PER_IMPORT_MAX, SUPPRESSION_DETAIL_CHARS_MAX } from '../limits.ts'
import { SUPPRESSION_REASONS } from '../records.ts'
import { named, namedInput, pageOf, pageQuery, timestamp } from './shared-schemas.ts'

export const AddressReference = z.string().describe('A mail address; its case does not matter.')

const Detail = z.string().max(SUPPRESSION_DETAIL_CHARS_MAX)

const REASONS =
  'bounce: its server does not know the address. complaint: its reader called a mail unwanted. manual: an operator ' +
  'wants it so.'

export const NewSuppressionInput = namedInput(
  'NewSuppression',
  z
    .strictObject({
      reason: z.enum(SUPPRESSION_REASONS).default('manual').describe(`${REASONS} Default manual.`),
      detail: Detail.default('').describe('Your own words about it. Default: none.'),
    })
    .meta({
      description: 'Why an address gets no mail.',
      examples: [{ reason: 'manual', detail: 'asked us by telephone' }],
    }),
)

export const SuppressionView = named(
  'Suppression',
  z
    .object({
      address: z.string().describe('The address, in lower case.'),
      reason: z.enum(SUPPRESSION_REASONS).describe(REASONS),
      detail: z.string().describe('Words of the mail server or of the operator; may be empty.'),
      suppressedAt: timestamp('When it was put on the list'),
    })
    .meta({
      description: 'An address that gets no mail.',
      examples: [
        {
          address: 'ada@example.com',
          reason: 'bounce',
          detail: '550 5.1.1 no such user',
          suppressedAt: '2026-11-21T09:30:00.000Z',
        },
      ],
    }),
)

export const SuppressionListQuery = z.strictObject(pageQuery)
export const SuppressionList = named('SuppressionList', pageOf('suppressions', SuppressionView))

const Bounce = z.strictObject({
  address: z.string().min(1).describe('The address that a mail went to.'),
  type: z
    .enum(['bounce', 'complaint'])
    .default('bounce')
    .describe('bounce: the mail came back. complaint: its reader called it unwanted. Default bounce.'),
  status: z
    .string()
    .regex(/^[245]\.\d{1,3}\.\d{1,3}$/, 'must be a status code of RFC 3463, like 5.1.1')
    .optional()
    .describe('Status of the bounce, as RFC 3463 has it. Only 5.… is permanent. Default: permanent.'),
  detail: Detail.default('').describe('Words of the report. Default: none.'),
})

export const BouncesInput = namedInput(
  'Bounces',
  z
    .strictObject({
      bounces: z
        .array(Bounce)
        .min(1)
        .max(BOUNCES_PER_IMPORT_MAX)
        .describe(`Reports, 1 to ${BOUNCES_PER_IMPORT_MAX}; a repeated one changes nothing.`),
    })
    .meta({
      description: 'Reports of mails that came back, as mail providers give them.',
      examples: [{ bounces: [{ address: 'ada@example.com', status: '5.1.1' }] }],
    }),
)

export const BouncesAnswer = named(
  'BouncesResult',
  z
    .object({
      suppressed: z.int().describe('Addresses that are new on the suppression list.'),
      present: z.int().describe('Addresses that were on it.'),
      ignored: z.int().describe('Reports that are not permanent: their addresses still get mail.'),
    })
    .meta({
      description: 'The result of an import of bounces.',
      examples: [{ suppressed: 1, present: 0, ignored: 0 }],
    }),
)
