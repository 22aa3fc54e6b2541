/** Finding topics, subscriptions, queues and keys by their names, over REST. */
import { z } from 'zod'
import { named, SearchText } from '../shared-schemas.ts'

/** @limit Names in the answer of a search for names. Past it: only the best are shown. */
const NAMES_FOUND_MAX = 50

export const NamesQuery = z.strictObject({
  text: SearchText.describe(
    'Words in any order, such as `hooli orders ERP`. All of them must be in the name, topic, host, protocol or metadata of one thing.',
  ),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(NAMES_FOUND_MAX)
    .default(20)
    .describe(`Names in the answer, 1 to ${NAMES_FOUND_MAX}; default 20.`),
})

const FoundName = named(
  'FoundName',
  z
    .object({
      kind: z.enum(['topic', 'subscription', 'queue', 'key']).describe('Kind of the thing with this name.'),
      id: z.string().describe('Name of a topic or queue, or id of a subscription or key, as paths take it.'),
      name: z.string().nullable().describe('Its name for people. null: a subscription or key without one.'),
      arn: z.string().nullable().describe('Its ARN. null: a key.'),
      topic: z.string().nullable().describe('Name of a subscription’s topic; null for everything else.'),
      host: z
        .string()
        .nullable()
        .describe('Host or domain of a subscription’s endpoint, or its protocol; null for everything else.'),
    })
    .meta({
      description: 'Something with a name.',
      examples: [
        {
          kind: 'subscription',
          id: '2ed27b75-ed07-88d2-8000-0a4a7289a382',
          name: 'ERP',
          arn: 'arn:aws:sns:us-east-1:000000000000:orders:2ed27b75-ed07-88d2-8000-0a4a7289a382',
          topic: 'orders',
          host: 'erp.hooli.example',
        },
      ],
    }),
)

export const NamesAnswer = named(
  'FoundNames',
  z
    .object({
      found: z.array(FoundName).describe('Names in which all words are, the best first.'),
      matched: z.int().describe('How many match in all.'),
      complete: z
        .boolean()
        .describe('false: there are more topics, subscriptions or queues than the search looks at.'),
    })
    .meta({
      description: 'The things whose names have all words.',
      examples: [{ found: FoundName.meta()?.examples, matched: 1, complete: true }],
    }),
)
