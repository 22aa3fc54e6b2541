/** Checks of endpoints over REST. */
import { z } from 'zod'
import { BATCH_MESSAGES_MAX, ENDPOINT_CHARS_MAX } from '../../limits.ts'
import { PROTOCOLS } from '../../protocols.ts'
import { named, namedInput } from '../shared-schemas.ts'

export const EndpointCheckInput = namedInput(
  'EndpointCheckInput',
  z
    .strictObject({
      endpoints: z
        .array(
          z.strictObject({
            endpoint: z
              .string()
              .min(1)
              .max(ENDPOINT_CHARS_MAX)
              .describe('An endpoint, as a new subscription would name it.'),
            protocol: z
              .enum(PROTOCOLS)
              .optional()
              .describe('Must agree with the endpoint. Default: what the endpoint says.'),
          }),
        )
        .min(1)
        .max(BATCH_MESSAGES_MAX)
        .describe(`1 to ${BATCH_MESSAGES_MAX} endpoints.`),
    })
    .meta({
      description: 'Endpoints to check.',
      examples: [{ endpoints: [{ endpoint: 'ops@example.com', protocol: 'email' }] }],
    }),
)

export const EndpointCheckAnswer = named(
  'EndpointCheck',
  z
    .object({
      problems: z
        .array(z.string().nullable())
        .describe('Why each endpoint cannot be subscribed here, in the order of the request; null: it can.'),
    })
    .meta({
      description: 'Which endpoints this server could deliver to.',
      examples: [
        {
          problems: [
            'endpoint cannot be delivered to: email endpoints need FANTAIL_SMTP_URL, which is not set',
          ],
        },
      ],
    }),
)
