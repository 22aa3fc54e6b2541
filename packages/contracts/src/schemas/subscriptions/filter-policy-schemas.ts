/** Schemas of the route that tries a filter policy on a message before it is set. */
import { z } from 'zod'
import { REPLAY_MESSAGES_MAX } from '../../limits.ts'
import { PROTOCOLS } from '../../protocols.ts'
import { MessageInput } from '../messages/message-schemas.ts'
import { givenMap, named, namedInput, Timestamp, TopicReference } from '../shared-schemas.ts'
import { EventTypesChosen } from './subscription-schemas.ts'

export const FilterTestInput = namedInput(
  'FilterTestInput',
  z
    .strictObject({
      filterPolicy: givenMap(z.string(), z.unknown())
        .optional()
        .describe(
          'The policy to try, in SNS’s filter language: per key a list of alternatives. Default: none.',
        ),
      filterPolicyScope: z
        .enum(['MessageAttributes', 'MessageBody'])
        .optional()
        .describe(
          'Whether the filter looks at attributes or at the message as JSON. Default MessageAttributes.',
        ),
      eventTypes: EventTypesChosen.optional().describe(
        'Names and patterns of event types to try, in addition to the policy. Default: none.',
      ),
      message: MessageInput.describe('The message to judge, as it would be published.'),
      protocol: z
        .enum(PROTOCOLS)
        .optional()
        .describe('The protocol whose text counts, if the message has one per protocol. Default http.'),
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
      clauses: z
        .array(Clause)
        .describe(
          'One entry per clause of the policy, branches of `$or` included. The clause of the event types comes first.',
        ),
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

export const FilterReplayInput = namedInput(
  'FilterReplayInput',
  z
    .strictObject({
      topic: TopicReference.describe('Topic whose kept messages are tried, by its name or ARN.'),
      filterPolicy: FilterTestInput.shape.filterPolicy,
      filterPolicyScope: FilterTestInput.shape.filterPolicyScope,
      eventTypes: FilterTestInput.shape.eventTypes,
      protocol: FilterTestInput.shape.protocol,
      last: z
        .int()
        .min(1)
        .max(REPLAY_MESSAGES_MAX)
        .describe(`How many of the latest kept messages to try: 1 to ${REPLAY_MESSAGES_MAX}.`),
    })
    .meta({
      description: 'A filter policy to be tried on the latest messages of a topic.',
      examples: [{ topic: 'orders', filterPolicy: { color: ['red'] }, last: 1_000 }],
    }),
)

const ReplayedClause = Clause.pick({ path: true, condition: true }).extend({
  refused: z.int().describe('Messages that do not satisfy this clause, judged by itself.'),
})

export const FilterReplayAnswer = named(
  'FilterReplay',
  z
    .object({
      kept: z.int().describe('Messages that the topic keeps now.'),
      tried: z.int().describe('Messages on which the policy was tried, the latest first.'),
      matched: z.int().describe('How many of them the subscription would get.'),
      ended: z
        .enum(['last', 'ring', 'time'])
        .describe(
          'Why it looked no further. last: it tried as many as asked. ring: the topic keeps no more. time: it took too ' +
            'long.',
        ),
      oldestAt: Timestamp.nullable().describe(
        'When the oldest tried message was published: ISO 8601 in UTC. null: none was tried.',
      ),
      unreadable: z.int().describe('Messages that cannot be decoded. They were not tried.'),
      clauses: z
        .array(ReplayedClause)
        .describe(
          'One entry per clause of the policy, branches of `$or` included. The clause of the event types comes first.',
        ),
    })
    .meta({
      description: 'The verdict of a filter policy on the latest messages of a topic.',
      examples: [
        {
          kept: 5_200,
          tried: 1_000,
          matched: 640,
          ended: 'last',
          oldestAt: '2026-11-21T09:30:00.000Z',
          unreadable: 0,
          clauses: [{ path: 'color', condition: ['red'], refused: 360 }],
        },
      ],
    }),
)
