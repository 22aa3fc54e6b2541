/** Health over REST. */
import { z } from 'zod'

export const HealthAnswer = z.object({ status: z.literal('ok') })
export const ReadyAnswer = z.object({
  status: z.enum(['ready', 'unready']),
  checks: z.record(z.string(), z.object({ ok: z.boolean(), detail: z.string().optional() })),
})
