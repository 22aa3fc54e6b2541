/** Portal links and sessions over REST. */
import { z } from 'zod'
import { KEY_PREFIXES_MAX, PORTAL_SCOPES } from '../../caller-records.ts'
import { named, namedInput, timestamp } from '../shared-schemas.ts'

/** @limit Subscriptions that a portal link names. Past it: `validation_failed`. */
const PORTAL_SUBSCRIPTIONS_MAX = 100
/** @limit Life of a portal session. Past it: `validation_failed`. */
const PORTAL_SESSION_SECONDS_MAX = 86_400
/** @limit Name in a portal's theme. Past it: `validation_failed`. */
const PORTAL_NAME_CHARS_MAX = 60
/** A picture of 16 KiB in base64, and its beginning. Past it: `validation_failed`. */
const PORTAL_LOGO_CHARS_MAX = 22_000
/** Text that is taken for the token of a portal link. Past it: `validation_failed`. */
const PORTAL_TOKEN_CHARS_MAX = 100

const Scopes = z.array(z.enum(PORTAL_SCOPES))
const SCOPES_ARE =
  'read: see endpoints and their messages. manage: add, change, delete, pause, resume and test endpoints, make keys of ' +
  'signatures. redrive: send messages again. bodies: see texts of messages and answers of endpoints.'

const ThemeInput = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(PORTAL_NAME_CHARS_MAX)
    .optional()
    .describe('Shown as the title. Default Fantail.'),
  logo: z
    .string()
    .max(PORTAL_LOGO_CHARS_MAX)
    .optional()
    .describe('A picture as a data URL: png, jpeg or webp in base64, at most 16 KiB. No SVG.'),
  colour: z
    .string()
    .regex(/^#[0-9A-Fa-f]{6}$/, 'must be a colour like #0b6e75')
    .optional()
    .describe('Colour of the head and of buttons. White text on it needs a contrast of 4.5.'),
})

export const PortalLinkInput = namedInput(
  'PortalLinkInput',
  z
    .strictObject({
      prefixes: z
        .array(z.string().regex(/^[A-Za-z0-9_-]{1,256}$/, 'must be 1 to 256 of A-Z a-z 0-9 _ -'))
        .min(1)
        .max(KEY_PREFIXES_MAX)
        .optional()
        .describe(
          'The session is for topics whose names begin with one of these, and may add endpoints there.',
        ),
      subscriptions: z
        .array(z.uuid())
        .min(1)
        .max(PORTAL_SUBSCRIPTIONS_MAX)
        .optional()
        .describe('Ids of the only subscriptions that the session may see. It cannot add others.'),
      scopes: Scopes.min(1)
        .max(PORTAL_SCOPES.length)
        .refine((scopes) => scopes.includes('read'), 'must include read')
        .describe(`Rights of the session, at most those of the caller’s key. ${SCOPES_ARE}`),
      ttlSeconds: z
        .int()
        .min(60)
        .max(PORTAL_SESSION_SECONDS_MAX)
        .default(3_600)
        .describe('How long the session lasts, a minute to a day. Default 3600.'),
      theme: ThemeInput.optional().describe('How the portal looks.'),
      language: z
        .string()
        .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$/, 'must be a language like de or de-AT')
        .optional()
        .describe('Language of the portal: en or de. Default, and instead of others: that of the browser.'),
    })
    .refine(({ prefixes, subscriptions }) => (prefixes === undefined) !== (subscriptions === undefined), {
      path: ['prefixes'],
      message: 'must be given, or else subscriptions, and not both',
    })
    .meta({
      description: 'Rights of a customer in the portal.',
      examples: [
        { prefixes: ['acme-'], scopes: ['read', 'manage', 'redrive'], ttlSeconds: 3_600 },
        {
          subscriptions: ['0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012'],
          scopes: ['read'],
          theme: { name: 'Acme', colour: '#0b6e75' },
        },
      ],
    }),
)

export const PortalLinkView = named(
  'PortalLink',
  z
    .object({
      id: z.string().describe('Id of the link and of its session, no secret. Audit lines have it.'),
      url: z
        .string()
        .describe('Opens the portal. It works once. The token is behind the `#`, which no server sees.'),
      expiresAt: timestamp('When the link can no longer be opened, ten minutes from now'),
    })
    .meta({
      description: 'A link that opens the portal once.',
      examples: [
        {
          id: '7d0f8d9c-6f1a-4d55-9f4b-0a2f9b1d7c11',
          url: 'https://fantail.example.com/portal/#fpl_q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0x1C',
          expiresAt: '2026-11-21T09:40:00.000Z',
        },
      ],
    }),
)

export const PortalRedeemInput = namedInput(
  'PortalRedeemInput',
  z
    .strictObject({
      token: z.string().min(1).max(PORTAL_TOKEN_CHARS_MAX).describe('The part of the link behind the `#`.'),
    })
    .meta({
      description: 'The token of a portal link.',
      examples: [{ token: 'fpl_q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0x1C' }],
    }),
)

const session = {
  id: z.string().describe('Id of the session, no secret.'),
  scopes: Scopes.describe(SCOPES_ARE),
  canAdd: z
    .boolean()
    .describe('Whether the session may add endpoints: with manage, and not for single subscriptions.'),
  theme: z
    .object({
      name: z.string().nullable().describe('Title of the portal; null: Fantail.'),
      logo: z.string().nullable().describe('A picture as a data URL; null: none.'),
      colour: z.string().nullable().describe('A colour like `#0b6e75`; null: the usual one.'),
    })
    .describe('How the portal looks.'),
  endsAt: timestamp('When the session ends at the latest'),
}
const EXAMPLE = {
  id: '7d0f8d9c-6f1a-4d55-9f4b-0a2f9b1d7c11',
  scopes: ['read', 'manage'],
  canAdd: true,
  theme: { name: 'Acme', logo: null, colour: '#0b6e75' },
  endsAt: '2026-11-21T10:30:00.000Z',
}

export const PortalSessionView = named(
  'PortalSession',
  z.object(session).meta({ description: 'Rights of this portal session.', examples: [EXAMPLE] }),
)
export const NewPortalSessionView = named(
  'CreatedPortalSession',
  z
    .object({
      ...session,
      token: z.string().describe('Sent as `Authorization: Bearer fps_…`. Only this answer has it.'),
    })
    .meta({
      description: 'A portal session that was just made from its link.',
      examples: [{ ...EXAMPLE, token: 'fps_q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0x1C' }],
    }),
)
