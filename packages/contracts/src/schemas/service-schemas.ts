/** Health over REST. */
import { z } from 'zod'
import { named, timestamp } from './shared-schemas.ts'

export const HealthAnswer = named(
  'Health',
  z
    .object({
      status: z.literal('ok').describe('Always `ok`, because a process that is down gives no answer.'),
    })
    .meta({ description: 'Says that the process answers requests.', examples: [{ status: 'ok' }] }),
)
export const ReadyAnswer = named(
  'Readiness',
  z
    .object({
      status: z
        .enum(['ready', 'degraded', 'unavailable'])
        .describe('`degraded`: it works, and an operator should look. `unavailable`: a check failed.'),
      checks: z
        .record(z.string(), z.string())
        .describe(
          'Result of each check by its name: `ok`, or what is wrong. If keys are required: `failed`.',
        ),
      degraded: z
        .array(
          z.object({
            reason: z
              .enum([
                'eviction',
                'no_persistence',
                'unseen',
                'disk',
                'storage_full',
                'replicas_missing',
                'dispatch_behind',
                'archive_behind',
                'redis_slow',
                'modes_mixed',
              ])
              .describe(
                'eviction: Redis may drop messages. no_persistence: it keeps nothing over a restart. unseen: it does not ' +
                  'say. disk: it could not write its files. storage_full: publishing is refused. replicas_missing: replicas of FANTAIL_MIN_REPLICAS do not follow, ' +
                  'and publishing is refused. dispatch_behind: no worker has fetched a message for half a minute. ' +
                  'archive_behind: archives were not written completely for a minute. ' +
                  'redis_slow: a round trip to Redis takes long. modes_mixed: processes of both modes use this Redis.',
              ),
            message: z.string().describe('The reason in words, with what to do.'),
          }),
        )
        .describe('Why the status is `degraded`; else empty.'),
      version: z.string().describe('Release that the process runs, as in its package.json.'),
      commit: z.string().describe('Commit that the process runs; `unknown` where nothing says it.'),
      startedAt: z.string().describe('When the process started, ISO 8601.'),
    })
    .meta({
      description: 'The checks that decide whether the process can do its work now.',
      examples: [
        {
          status: 'ready',
          checks: { redis: 'ok', publisher: 'ok' },
          degraded: [],
          version: '0.1.0',
          commit: '5d41402abc4b2a76b9719d911017c592ae5d4140',
          startedAt: '2026-11-21T09:30:00.000Z',
        },
      ],
    }),
)

export const ServiceList = named(
  'ServiceList',
  z
    .object({
      at: timestamp('When the list was read, by the clock of Redis'),
      processes: z
        .array(
          z.object({
            id: z.string().describe('Id of the process. A process that is started again has another one.'),
            role: z.string().describe('The service: `publish-api`, `delivery-worker` or `redrive`.'),
            mode: z
              .enum(['local', 'server'])
              .describe('Mode of the process. All processes on one Redis should have the same.'),
            version: z.string().describe('Release that the process runs, as in its package.json.'),
            commit: z.string().describe('Commit that the process runs; `unknown` where nothing says it.'),
            host: z.string().describe('Name of the machine or container.'),
            pid: z.int().describe('Number of the process on its machine.'),
            startedAt: timestamp('When the process started'),
            lastSeenAt: timestamp('When the process reported last. It reports every ten seconds'),
            slots: z
              .object({
                used: z.int().describe('How many attempts are under way now.'),
                max: z.int().describe('Attempts that may be under way at a time.'),
              })
              .nullable()
              .describe('Slots for attempts. null: the service makes no attempts.'),
            load: z
              .number()
              .describe('Share of the last ten seconds in which the process was busy, from 0 to 1.'),
            lagMs: z
              .int()
              .describe(
                'How late timers of the process were in the last ten seconds: the 99th percentile, in ms.',
              ),
            format: z.int().describe('The newest format of the data that the process reads.'),
            capabilities: z
              .array(z.string())
              .describe('Capabilities that the process knows, in effect or not.'),
          }),
        )
        .describe('Sorted by role and start.'),
      data: z
        .object({
          format: z.int().describe('Number that every release knows the data by; it only grows.'),
          capabilities: z.array(z.string()).describe('Capabilities that are in effect.'),
        })
        .nullable()
        .describe(
          'Format of the data in Redis. A process that does not know it ends. null: it cannot be read.',
        ),
    })
    .meta({
      description: 'The processes of Fantail that run now.',
      examples: [
        {
          at: '2026-11-21T09:31:00.000Z',
          processes: [
            {
              id: '3f1c9a52-6f0e-4d55-9f4b-0a2f9b1d7c11',
              role: 'delivery-worker',
              mode: 'server',
              version: '0.1.0',
              commit: '5d41402abc4b2a76b9719d911017c592ae5d4140',
              host: 'worker-1',
              pid: 41,
              startedAt: '2026-11-21T09:30:00.000Z',
              lastSeenAt: '2026-11-21T09:30:58.000Z',
              slots: { used: 12, max: 512 },
              load: 0.07,
              lagMs: 2,
              format: 1,
              capabilities: [],
            },
          ],
          data: { format: 1, capabilities: [] },
        },
      ],
    }),
)
/** @limit By how much one request may move the time of a test's stack: a year. Past it: the request is refused. */
const TRAVEL_SECONDS_MAX = 31_536_000
/** @limit How long a request to move the time of a test's stack may ask the API to wait. Past it: it is refused. */
const TRAVEL_WAIT_MS_MAX = 600_000
const TRAVEL_WAIT_MS = 30_000

/** Only stacks of tests have this route, so the OpenAPI document does not name it. */
export const AdvanceInput = z.strictObject({
  seconds: z.number().positive().max(TRAVEL_SECONDS_MAX).describe('By how much; fractions are allowed.'),
  timeoutMs: z
    .int()
    .min(1)
    .max(TRAVEL_WAIT_MS_MAX)
    .default(TRAVEL_WAIT_MS)
    .describe('How long to wait for work that became due.'),
})
