/** Health over REST. */
import { z } from 'zod'

export const HealthAnswer = z.object({ status: z.literal('ok') })
export const ReadyAnswer = z.object({
  checks: z
    .record(z.string(), z.string())
    .describe('`ok`, or what is wrong; where keys are asked for, `failed`'),
})
