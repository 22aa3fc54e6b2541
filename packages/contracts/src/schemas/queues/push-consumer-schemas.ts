/** Push consumers over REST. */
import { z } from 'zod'
import {
  ENDPOINT_CHARS_MAX,
  PUSH_CONSUMER_BATCH_MAX,
  PUSH_CONSUMER_BATCH_SIZE_DEFAULT,
  PUSH_CONSUMER_CONCURRENCY_DEFAULT,
  PUSH_CONSUMER_CONCURRENCY_MAX,
  PUSH_CONSUMER_NAME_CHARS_MAX,
  PUSH_CONSUMER_TIMEOUT_SECONDS_DEFAULT,
  PUSH_CONSUMER_TIMEOUT_SECONDS_MAX,
  PUSH_CONSUMER_WINDOW_SECONDS_MAX,
} from '../../limits.ts'
import { OutboundInput, OutboundView } from '../outbound-schemas.ts'
import { CreatedAt, named, namedInput, pageOf, pageQuery, timestamp } from '../shared-schemas.ts'

export const PushConsumerReference = z
  .string()
  .describe(
    `Name of a push consumer, unique in its queue: 1 to ${PUSH_CONSUMER_NAME_CHARS_MAX} of \`A-Z a-z 0-9 _ -\`.`,
  )

/** `null` resets a member. */
export const PushConsumerInput = namedInput(
  'PushConsumerInput',
  z
    .strictObject({
      url: z
        .string()
        .min(1)
        .max(ENDPOINT_CHARS_MAX)
        .optional()
        .describe(
          'The http or https URL that batches are posted to, or the ARN of a function that is invoked with them; needed to create a consumer.',
        ),
      batchSize: z
        .int()
        .min(1)
        .max(PUSH_CONSUMER_BATCH_MAX)
        .nullish()
        .describe(
          `Messages per request at most; up to 10 on a FIFO queue. Default ${PUSH_CONSUMER_BATCH_SIZE_DEFAULT}.`,
        ),
      batchWindowSeconds: z
        .int()
        .min(0)
        .max(PUSH_CONSUMER_WINDOW_SECONDS_MAX)
        .nullish()
        .describe('How long a batch that is not full waits for more messages; 0 on a FIFO queue. Default 0.'),
      concurrency: z
        .int()
        .min(1)
        .max(PUSH_CONSUMER_CONCURRENCY_MAX)
        .nullish()
        .describe(`Requests at a time, over all workers. Default ${PUSH_CONSUMER_CONCURRENCY_DEFAULT}.`),
      timeoutSeconds: z
        .int()
        .min(1)
        .max(PUSH_CONSUMER_TIMEOUT_SECONDS_MAX)
        .nullish()
        .describe(
          `Deadline of a request, from connecting to the end of the answer. Default ${PUSH_CONSUMER_TIMEOUT_SECONDS_DEFAULT}.`,
        ),
      enabled: z
        .boolean()
        .nullish()
        .describe('false stops further requests; messages stay queued. Default true.'),
      outbound: OutboundInput.nullish().describe(
        'How the URL is reached beyond itself: proxy, certificates, headers. Default: a plain connection.',
      ),
      reportBatchItemFailures: z
        .boolean()
        .nullish()
        .describe(
          'Whether a 2xx may name messages that failed, as `{"batchItemFailures": […]}`. Default false.',
        ),
    })
    .meta({
      description:
        'Settings of a push consumer. Members that are left out stay as they are; null resets one.',
      examples: [{ url: 'https://worker.example.com/jobs', batchSize: 20, concurrency: 4 }],
    }),
)

export const PushConsumerView = named(
  'PushConsumer',
  z
    .object({
      name: z.string().describe('Name of the consumer, unique in its queue.'),
      queueArn: z.string().describe('ARN of the queue whose messages are pushed.'),
      url: z
        .string()
        .describe('URL that batches are posted to, or ARN of the function; a password in it is masked.'),
      batchSize: z.int().describe('Messages per request at most, 1 to 1,000.'),
      batchWindowSeconds: z.int().describe('How long a batch that is not full waits for more messages.'),
      concurrency: z.int().describe('Requests at a time at most, over all workers.'),
      timeoutSeconds: z.int().describe('Deadline of a request, from connecting to the end of the answer.'),
      enabled: z.boolean().describe('false: no request begins, and messages stay queued.'),
      reportBatchItemFailures: z
        .boolean()
        .describe('Whether a 2xx may name messages of the batch that failed.'),
      outbound: OutboundView.nullable().describe('How the URL is reached beyond itself; null: plainly.'),
      inFlight: z.int().describe('Requests under way now, over all workers.'),
      createdAt: CreatedAt,
      modifiedAt: timestamp('When a setting was last changed'),
    })
    .meta({
      description: 'A webhook or function that a queue’s messages are pushed to in batches.',
      examples: [
        {
          name: 'worker',
          queueArn: 'arn:aws:sqs:us-east-1:000000000000:jobs',
          url: 'https://worker.example.com/jobs',
          batchSize: 20,
          batchWindowSeconds: 0,
          concurrency: 4,
          timeoutSeconds: 30,
          enabled: true,
          reportBatchItemFailures: false,
          outbound: null,
          inFlight: 1,
          createdAt: '2026-11-21T09:30:00.000Z',
          modifiedAt: '2026-11-21T09:30:00.000Z',
        },
      ],
    }),
)

export const PushConsumerListQuery = z.strictObject(pageQuery)
export const PushConsumerList = named('PushConsumerList', pageOf('consumers', PushConsumerView))
