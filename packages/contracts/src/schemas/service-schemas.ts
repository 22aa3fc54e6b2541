/** Health over REST. */
import { z } from 'zod'
import { named } from './shared-schemas.ts'

export const HealthAnswer = named(
  'Health',
  z
    .object({ status: z.literal('ok').describe('Always `ok`; a process that is down answers nothing.') })
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
        .describe('Result of each check by its name: `ok`, or what is wrong. With keys asked for: `failed`.'),
      degraded: z
        .array(
          z.object({
            reason: z
              .enum(['eviction', 'no_persistence', 'unseen', 'storage_full'])
              .describe(
                'eviction: Redis may drop messages. no_persistence: it keeps nothing over a restart. unseen: it does not ' +
                  'say. storage_full: publishing is refused.',
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
