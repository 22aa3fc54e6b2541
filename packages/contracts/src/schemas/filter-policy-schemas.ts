/** Trying a filter policy on a message before it is set. */
import { z } from 'zod'
import { PROTOCOLS } from '../protocols.ts'
import { MessageInput } from './message-schemas.ts'
import { named } from './shared-schemas.ts'

export const FilterTestInput = z.strictObject({
  filterPolicy: z.record(z.string(), z.unknown()).describe('In SNS’s filter language'),
  filterPolicyScope: z
    .enum(['MessageAttributes', 'MessageBody'])
    .optional()
    .describe('What the filter looks at; default MessageAttributes'),
  message: MessageInput.describe('As it would be published'),
  protocol: z
    .enum(PROTOCOLS)
    .optional()
    .describe('Whose text counts where the message has one for each protocol; default http'),
})

export const FilterTestAnswer = named(
  'FilterTest',
  z.object({
    matched: z.boolean(),
    reason: z
      .enum([
        'MessageAttributes',
        'MessageBody',
        'InvalidAttributes',
        'NoMessageAttributes',
        'InvalidMessageBody',
      ])
      .nullable()
      .describe('Under which SNS would count the message as filtered out; null where it matched'),
    clauses: z.array(
      z.object({
        path: z.string().describe('The key, those around it before it, with dots between'),
        condition: z.array(z.unknown()).describe('Its alternatives, as the policy has them'),
        matched: z.boolean(),
        value: z
          .unknown()
          .optional()
          .describe('What satisfies it, else what the message has there, several as a list; absent: nothing'),
      }),
    ),
  }),
)
