/** Schemas of mobile push over REST: platform applications and their endpoints. */
import { z } from 'zod'
import {
  APNS_TOKEN_CHARS_MAX,
  PLATFORM_CREDENTIAL_CHARS_MAX,
  PLATFORM_ENDPOINTS_MAX,
  PLATFORM_TOKEN_BYTES_MAX,
  PLATFORM_USER_DATA_BYTES_MAX,
} from '../limits.ts'
import { PLATFORMS } from '../mobile-push/platforms.ts'
import { CreatedAt, named, namedInput, pageOf, pageQuery } from './shared-schemas.ts'

export const PlatformReference = z
  .string()
  .describe(
    'Platform of the application: `GCM` (Firebase), `APNS`, `APNS_SANDBOX`, or `WEBPUSH` for browsers.',
  )
export const ApplicationReference = z
  .string()
  .describe('Name of the application: 1 to 256 of `A-Z a-z 0-9 _ - .`.')
export const PlatformEndpointReference = z.string().describe('Id of the endpoint, the end of its ARN.')

const Secret = z.string().min(1).max(PLATFORM_CREDENTIAL_CHARS_MAX)
const EVENTS = {
  endpointCreated: 'when an endpoint is made',
  endpointUpdated: 'when an endpoint is changed or disabled',
  endpointDeleted: 'when an endpoint is deleted',
  deliveryFailure: 'when a notification to one endpoint has failed permanently',
} as const

function eventMembers<T extends z.ZodType>(schema: T) {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([name, when]) => [
      name,
      schema.describe(`ARN of a topic that hears ${when}.`),
    ]),
  ) as { [name in keyof typeof EVENTS]: T }
}

export const PlatformApplicationInput = namedInput(
  'PlatformApplicationSettings',
  z
    .strictObject({
      credential: Secret.optional().describe(
        'GCM: JSON of a service account. APNs: the .p8 signing key. WEBPUSH: private VAPID key. It is never shown.',
      ),
      principal: Secret.optional().describe(
        'APNs: id of the signing key. WEBPUSH: public VAPID key. GCM has none.',
      ),
      teamId: Secret.optional().describe('APNs: team of the signing key.'),
      bundleId: Secret.optional().describe('APNs: bundle id of the application.'),
      subject: Secret.optional().describe('WEBPUSH: `mailto:` or `https:` address of the sender.'),
      enabled: z.boolean().optional().describe('Whether notifications are sent. Default: true.'),
      events: z
        .strictObject(eventMembers(z.string().nullable().optional()))
        .optional()
        .describe('Topics to which events of endpoints are published; null resets one. Default: none.'),
    })
    .meta({
      description:
        'Settings of a platform application. A new one needs the whole credential of its platform.',
      examples: [
        {
          principal: 'ABC123DEFG',
          credential: '-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n',
          teamId: 'DEF123GHIJ',
          bundleId: 'com.example.shop',
        },
      ],
    }),
)

const APPLICATION_ARN = 'arn:aws:sns:us-east-1:000000000000:app/APNS/shop'

export const PlatformApplicationView = named(
  'PlatformApplication',
  z
    .object({
      arn: z.string().describe('ARN that AWS clients name the application by.'),
      platform: z.enum(PLATFORMS).describe('The service that its notifications go to.'),
      name: z.string().describe('Name as in the path, unique in its account and platform.'),
      enabled: z.boolean().describe('Whether notifications are sent.'),
      events: z.object(eventMembers(z.string().nullable())).describe('Topics that hear of endpoints.'),
      createdAt: CreatedAt,
    })
    .meta({
      description: 'A credential of mobile push, with its settings.',
      examples: [
        {
          arn: APPLICATION_ARN,
          platform: 'APNS',
          name: 'shop',
          enabled: true,
          events: {
            endpointCreated: null,
            endpointUpdated: null,
            endpointDeleted: null,
            deliveryFailure: 'arn:aws:sns:us-east-1:000000000000:push-failures',
          },
          createdAt: '2026-11-21T09:30:00.000Z',
        },
      ],
    }),
)

export const PlatformListQuery = z.strictObject(pageQuery)
export const PlatformApplicationList = named(
  'PlatformApplicationList',
  pageOf('applications', PlatformApplicationView),
)

const TOKEN =
  `Token of the device, at most ${PLATFORM_TOKEN_BYTES_MAX} bytes. APNs: at most ${APNS_TOKEN_CHARS_MAX} ` +
  "hexadecimal digits. WEBPUSH: the JSON of the browser's PushSubscription."
const USER_DATA = `Your own words about it, at most ${PLATFORM_USER_DATA_BYTES_MAX} bytes. They are never sent.`

export const NewPlatformEndpointInput = namedInput(
  'NewPlatformEndpoint',
  z
    .strictObject({
      token: z.string().describe(TOKEN),
      userData: z.string().optional().describe(`${USER_DATA} Default: none.`),
      enabled: z.boolean().optional().describe('Whether notifications are sent to it. Default: true.'),
    })
    .meta({
      description: `A device or browser. An application has at most ${PLATFORM_ENDPOINTS_MAX}.`,
      examples: [{ token: '00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0' }],
    }),
)

export const PlatformEndpointInput = namedInput(
  'PlatformEndpointSettings',
  z
    .strictObject({
      token: z.string().optional().describe(`${TOKEN} Default: it stays.`),
      userData: z.string().optional().describe(`${USER_DATA} Default: they stay.`),
      enabled: z.boolean().optional().describe('Whether notifications are sent to it. Default: it stays.'),
    })
    .meta({ description: 'Members of an endpoint to set.', examples: [{ enabled: true }] }),
)

export const PlatformEndpointView = named(
  'PlatformEndpoint',
  z
    .object({
      id: z.string().describe('UUID that the path of the endpoint ends with.'),
      arn: z.string().describe('ARN that AWS clients name the endpoint by.'),
      token: z.string().describe('Token that its provider gave to the device. APNs: in lower case.'),
      enabled: z.boolean().describe('Whether notifications are sent to it.'),
      userData: z.string().nullable().describe('Your own words about it. null: never set.'),
      createdAt: CreatedAt,
    })
    .meta({
      description: 'A device or browser that gets notifications.',
      examples: [
        {
          id: '5e3e9847-3183-3f18-a7e8-671c3a57d4b3',
          arn: 'arn:aws:sns:us-east-1:000000000000:endpoint/APNS/shop/5e3e9847-3183-3f18-a7e8-671c3a57d4b3',
          token: '00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0',
          enabled: true,
          userData: null,
          createdAt: '2026-11-21T09:30:00.000Z',
        },
      ],
    }),
)

export const PlatformEndpointList = named('PlatformEndpointList', pageOf('endpoints', PlatformEndpointView))
