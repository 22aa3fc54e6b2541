/** Push consumers over REST. */
import { z } from 'zod'
import {
  CONSUMER_BATCH_MAX,
  CONSUMER_BATCH_SIZE_DEFAULT,
  CONSUMER_CONCURRENCY_DEFAULT,
  CONSUMER_CONCURRENCY_MAX,
  CONSUMER_TIMEOUT_SECONDS_DEFAULT,
  CONSUMER_TIMEOUT_SECONDS_MAX,
  CONSUMER_WINDOW_SECONDS_MAX,
  ENDPOINT_CHARS_MAX,
} from '../limits.ts'
import { OutboundInput, OutboundView } from './outbound-schemas.ts'
import { named, pageOf, pageQuery, Timestamp } from './shared-schemas.ts'

/** `null` resets a member. */
export const ConsumerInput = z.strictObject({
  url: z.string().min(1).max(ENDPOINT_CHARS_MAX).optional().describe('http or https; needed to create one'),
  batchSize: z
    .int()
    .min(1)
    .max(CONSUMER_BATCH_MAX)
    .nullish()
    .describe(
      `Messages per request at most; up to 10 on a FIFO queue. Default ${CONSUMER_BATCH_SIZE_DEFAULT}`,
    ),
  batchWindowSeconds: z
    .int()
    .min(0)
    .max(CONSUMER_WINDOW_SECONDS_MAX)
    .nullish()
    .describe('How long a batch that is not full waits for more; 0 on a FIFO queue. Default 0'),
  concurrency: z
    .int()
    .min(1)
    .max(CONSUMER_CONCURRENCY_MAX)
    .nullish()
    .describe(`Requests at a time, over all workers. Default ${CONSUMER_CONCURRENCY_DEFAULT}`),
  timeoutSeconds: z
    .int()
    .min(1)
    .max(CONSUMER_TIMEOUT_SECONDS_MAX)
    .nullish()
    .describe(`Deadline of a request. Default ${CONSUMER_TIMEOUT_SECONDS_DEFAULT}`),
  enabled: z.boolean().nullish().describe('Default true'),
  outbound: OutboundInput.nullish().describe('How the URL is reached beyond itself; default plainly'),
  reportBatchItemFailures: z
    .boolean()
    .nullish()
    .describe('Whether a 2xx may name messages that failed: {"batchItemFailures": […]}. Default false'),
})

export const ConsumerView = named(
  'Consumer',
  z.object({
    name: z.string(),
    queueArn: z.string(),
    url: z.string(),
    batchSize: z.int(),
    batchWindowSeconds: z.int(),
    concurrency: z.int(),
    timeoutSeconds: z.int(),
    enabled: z.boolean(),
    reportBatchItemFailures: z.boolean(),
    outbound: OutboundView.nullable(),
    inFlight: z.int().describe('Requests under way'),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
  }),
)

export const ConsumerListQuery = z.strictObject(pageQuery)
export const ConsumerList = pageOf('consumers', ConsumerView)
