/** Redrive tasks over REST. */
import { z } from 'zod'
import { textProblem } from '../../messages/message-rules.ts'
import { Attributes } from '../messages/message-schemas.ts'
import {
  named,
  namedInput,
  pageOf,
  pageQuery,
  QueueReference,
  Timestamp,
  timestamp,
} from '../shared-schemas.ts'
import { DeadLetterFilter } from './letter-schemas.ts'

/**
 * A canary is a small sample.
 * @limit Messages of a redrive’s canary. Past it: `validation_failed`.
 */
const CANARY_MAX = 100
const Rate = z.number().positive().max(100_000).describe('Messages moved per second at most, up to 100,000.')
const Status = z.enum(['running', 'paused', 'canceling', 'canceled', 'completed', 'failed'])

export const RedriveReference = z.string().describe('Id of a redrive task, as starting it answers.')

export const RedriveInput = namedInput(
  'RedriveInput',
  z
    .strictObject({
      source: QueueReference.describe('Queue to move messages out of, by its name or ARN.'),
      destination: QueueReference.nullish().describe(
        'Queue to move them to, by its name or ARN. Default: each message goes back where it came from.',
      ),
      maxMessagesPerSecond: Rate.nullish().describe(
        'Messages moved per second at most, up to 100,000. Default: as fast as it goes.',
      ),
      filter: DeadLetterFilter.optional().describe(
        'Which messages to move: all conditions must hold. Default: all messages.',
      ),
      canary: z
        .int()
        .min(1)
        .max(CANARY_MAX)
        .nullish()
        .describe(
          `The number of messages that are sent first, 1 to ${CANARY_MAX}. If more than a fifth of them is not delivered within two minutes, the task pauses itself; otherwise it continues. Not with a destination.`,
        ),
      dryRun: z
        .boolean()
        .optional()
        .describe('true: only count what would be moved, and answer 200. Default false.'),
    })
    .meta({
      description: 'A redrive to be started: messages, source and destination.',
      examples: [{ source: 'dead', maxMessagesPerSecond: 100 }],
    }),
)

export const RedriveView = named(
  'Redrive',
  z
    .object({
      id: z.string().describe('Id of the task. Ended tasks are kept for 14 days.'),
      action: z
        .enum(['redrive', 'purge', 'resend'])
        .describe(
          'redrive: moves messages. purge: removes the dead letters that a filter matches. resend: sends kept messages ' +
            'again to a subscription.',
        ),
      status: Status.describe(
        'running and paused tasks are active. canceling: a last batch is under way. The others have ended.',
      ),
      source: z
        .string()
        .describe(
          'ARN of the queue that messages are moved out of. For a resend: ARN of the subscription that gets kept messages.',
        ),
      destination: z
        .string()
        .nullable()
        .describe('ARN of the queue they go to; null: each back where it came from.'),
      matched: z
        .int()
        .describe(
          'Messages that matched when the task was started. For a resend: messages that it looks at.',
        ),
      moved: z
        .int()
        .describe(
          'Messages moved or, by a purge, removed so far; they have left the source. For a resend: messages resent.',
        ),
      skipped: z
        .int()
        .describe(
          'Messages that stay in the source because they are in flight, or because the place from which they came takes ' +
            'no more. For a resend: messages that the filter refuses, and messages that are no longer kept.',
        ),
      delivered: z.int().describe('How many of the moved messages their subscriptions have got by now.'),
      backInDlq: z.int().describe('How many of them failed again and were dead-lettered again.'),
      discarded: z
        .int()
        .describe(
          'How many of them ended otherwise: expired, purged, unsubscribed, or without a dead-letter queue.',
        ),
      canary: z
        .int()
        .nullable()
        .describe('Messages that go first, and whose ends decide whether the others follow; null: none.'),
      pauseReason: z
        .string()
        .optional()
        .describe('Why the task paused itself; absent while it did not. Resuming it moves the others.'),
      maxMessagesPerSecond: z
        .number()
        .nullable()
        .describe('Messages moved per second at most; null: no bound.'),
      startedAt: timestamp('When the task was started'),
      endedAt: Timestamp.nullable().describe(
        'When the task ended: ISO 8601 in UTC. null while it is active.',
      ),
      error: z
        .string()
        .optional()
        .describe('Why a failed task could not continue; absent without a failure.'),
    })
    .meta({
      description: 'A task that moves or removes messages of a queue.',
      examples: [
        {
          id: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          action: 'redrive',
          status: 'running',
          source: 'arn:aws:sqs:us-east-1:000000000000:dead',
          destination: null,
          matched: 1_200,
          moved: 300,
          skipped: 0,
          delivered: 298,
          backInDlq: 2,
          discarded: 0,
          canary: null,
          maxMessagesPerSecond: 100,
          startedAt: '2026-11-21T09:30:00.000Z',
          endedAt: null,
        },
      ],
    }),
)

export const DryRunAnswer = named(
  'RedriveDryRun',
  z
    .object({
      matched: z.int().describe('Messages that a redrive would try to move now.'),
      withoutOrigin: z
        .int()
        .describe(
          'How many of them came from no subscription and no queue: without a destination they stay.',
        ),
      bySubscription: z
        .record(z.string(), z.int())
        .describe('Matching messages by the ARN of their subscription.'),
      byStatusCode: z
        .record(z.string(), z.int())
        .describe('Matching messages by the last HTTP status; `none` where there was no answer.'),
    })
    .meta({
      description: 'The messages that a redrive would move, counted. Nothing was changed.',
      examples: [
        {
          matched: 3,
          withoutOrigin: 0,
          bySubscription: {
            'arn:aws:sns:us-east-1:000000000000:orders:0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012': 3,
          },
          byStatusCode: { '500': 2, none: 1 },
        },
      ],
    }),
)

export const EditInput = namedInput(
  'EditInput',
  z
    .strictObject({
      message: z
        .string()
        .superRefine((text, context) => {
          const message = textProblem(text)
          if (message !== undefined) context.addIssue({ code: 'custom', message })
        })
        .optional()
        .describe('The new text: of the published message, or else of the body. Default: the text as it is.'),
      attributes: Attributes.optional(),
      destination: QueueReference.nullish().describe(
        'Queue to move it to, by its name or ARN. Default: back where it came from.',
      ),
    })
    .meta({
      description: 'A message to be sent again, with changes. Members that are left out stay as they are.',
      examples: [{ message: '{"order": 7, "country": "DE"}' }],
    }),
)

export const EditedRedrive = named(
  'EditedRedrive',
  z
    .object({
      id: z.string().describe('Id of the redrive that sends it: `GET /v1/redrives/{id}` shows how it ended.'),
      messageId: z
        .string()
        .describe(
          'Id that receivers see. An edited message has a new one, so that nobody takes it for the old one.',
        ),
      editedFrom: z
        .string()
        .nullable()
        .describe('Id of the message that it replaces, which goes along with it. null: nothing was edited.'),
      originalSha256: z
        .string()
        .nullable()
        .describe('SHA-256 of the text as it was, in hex. null: it is sealed, and its key is missing.'),
      editedSha256: z
        .string()
        .nullable()
        .describe('SHA-256 of the text as it is sent, in hex. null likewise.'),
    })
    .meta({
      description: 'A single message is sent again.',
      examples: [
        {
          id: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          messageId: '0199c3b2-0c1e-7d22-8b3f-5a6b7c8d9e0f',
          editedFrom: '0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012',
          originalSha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
          editedSha256: '486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7',
        },
      ],
    }),
)

export const RedriveRateInput = namedInput(
  'RedriveRateInput',
  z
    .strictObject({
      maxMessagesPerSecond: Rate.nullable().describe(
        'Messages moved per second at most from now on, up to 100,000; null: no bound.',
      ),
    })
    .meta({ description: 'A new rate of an active task.', examples: [{ maxMessagesPerSecond: 500 }] }),
)
export const RedriveListQuery = z.strictObject({
  source: QueueReference.optional().describe(
    'Only tasks that move out of this queue, by its name or ARN, or resends to this subscription, by its ARN.',
  ),
  status: Status.optional().describe('Only tasks with this status. Default: all tasks.'),
  ...pageQuery,
})
export const RedriveList = named('RedriveList', pageOf('redrives', RedriveView))
