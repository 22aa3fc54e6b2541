/** Quotas of customers over REST. */
import { z } from 'zod'
import { named, namedInput, pageOf, pageQuery } from '../shared-schemas.ts'

export const QuotaReference = z
  .string()
  .describe('Beginning of names of topics, 1 to 256 of `A-Z a-z 0-9 _ -`, in the caller’s account.')

const Bound = z.int().min(0).nullable()

export const QuotaInput = namedInput(
  'QuotaSettings',
  z
    .strictObject({
      topics: Bound.optional().describe('Topics at most. null: no bound.'),
      subscriptions: Bound.optional().describe('Subscriptions of all these topics at most. null: no bound.'),
      storedBytes: Bound.optional().describe(
        'Approximate bytes of their messages at most: those that wait or are kept, and dead letters in the queues ' +
          'that the topics make. null: no bound.',
      ),
    })
    .meta({
      description: 'Bounds of a customer. Those that are left out stay.',
      examples: [{ topics: 10, subscriptions: 50 }],
    }),
)

const Used = z
  .object({
    topics: z.int().describe('Topics that exist now.'),
    subscriptions: z
      .int()
      .describe('Their subscriptions, also pending ones. An unsubscribed one counts until it is removed.'),
    storedBytes: z.int().describe('Approximate bytes of their messages, 2 to 15 s old.'),
  })
  .describe('The numbers of what exists now.')

export const QuotaView = named(
  'Quota',
  z
    .object({
      prefix: z.string().describe('The quota is for topics whose names begin with this.'),
      topics: Bound.describe('Topics at most. null: no bound.'),
      subscriptions: Bound.describe('Subscriptions of all these topics at most. null: no bound.'),
      storedBytes: Bound.describe('Approximate bytes of their messages at most. null: no bound.'),
      used: Used,
    })
    .meta({
      description: 'The bounds of a customer, and what the customer has.',
      examples: [
        {
          prefix: 'acme-',
          topics: 10,
          subscriptions: 50,
          storedBytes: null,
          used: { topics: 3, subscriptions: 7, storedBytes: 52_480 },
        },
      ],
    }),
)

export const QuotaListQuery = z.strictObject(pageQuery)
export const QuotaList = named('QuotaList', pageOf('quotas', QuotaView))
