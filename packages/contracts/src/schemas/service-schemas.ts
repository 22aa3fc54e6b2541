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
      checks: z
        .record(z.string(), z.string())
        .describe('Result of each check by its name: `ok`, or what is wrong. With keys asked for: `failed`.'),
    })
    .meta({
      description: 'The checks that decide whether the process can do its work now.',
      examples: [{ checks: { redis: 'ok' } }],
    }),
)
