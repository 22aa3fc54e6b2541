/** Schemas of the route that tries a filter policy on a message before it is set. */
import { z } from 'zod'
import { PROTOCOLS } from '../protocols.ts'
import { MessageInput } from './messages/message-schemas.ts'
import { givenMap, named, namedInput } from './shared-schemas.ts'

export const FilterTestInput = namedInput(
  'FilterTestInput',
  z
    .strictObject({
      filterPolicy: givenMap(z.string(), z.unknown()).describe(
        'The policy to try, in SNS’s filter language: per key a list of alternatives.',
      ),
      filterPolicyScope: z
        .enum(['MessageAttributes', 'MessageBody'])
        .optional()
        .describe(
          'Whether the filter looks at attributes or at the message as JSON. Default MessageAttributes.',
        ),
      message: MessageInput.describe('The message to judge, as it would be published.'),
      protocol: z
        .enum(PROTOCOLS)
        .optional()
        .describe('Whose text counts where the message has one per protocol. Default http.'),
    })
    .meta({
      description: 'A filter policy and a message to try it on.',
      examples: [
        {
          filterPolicy: { color: ['red'], size: [{ numeric: ['>', 10] }] },
          message: { message: 'hello', attributes: { color: 'red', size: 5 } },
        },
      ],
    }),
)

const Clause = z.object({
  path: z.string().describe('The key, with the keys around it before it: `order.color`.'),
  condition: z.array(z.unknown()).describe('The alternatives of this clause, as the policy has them.'),
  matched: z.boolean().describe('Whether the message satisfies this clause, judged by itself.'),
  value: z
    .unknown()
    .optional()
    .describe(
      'The value that satisfies the clause, else what the message has there; several as a list. Absent: nothing.',
    ),
})

export const FilterTestAnswer = named(
  'FilterTest',
  z
    .object({
      matched: z.boolean().describe('Whether the subscription would get the message.'),
      reason: z
        .enum([
          'MessageAttributes',
          'MessageBody',
          'InvalidAttributes',
          'NoMessageAttributes',
          'InvalidMessageBody',
        ])
        .nullable()
        .describe('Under which SNS would count the message as filtered out; null where it matched.'),
      clauses: z.array(Clause).describe('One entry per clause of the policy, branches of `$or` included.'),
    })
    .meta({
      description: 'The verdict of a filter policy on a message, clause by clause.',
      examples: [
        {
          matched: false,
          reason: 'MessageAttributes',
          clauses: [
            { path: 'color', condition: ['red'], matched: true, value: 'red' },
            { path: 'size', condition: [{ numeric: ['>', 10] }], matched: false, value: 5 },
          ],
        },
      ],
    }),
)
