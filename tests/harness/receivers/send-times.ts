/** The times at which workers sent requests, from their log lines at level debug (`request.sent`). */
import { steadyNow } from '@fantail/test-kit'
import type { Stack } from '../services/stack.ts'

/** Send times of each subscription, in ms, by the same clock as a receiver's times. */
export function sendTimes({ workers }: Pick<Stack, 'workers'>): Map<string, number[]> {
  const times = new Map<string, number[]>()
  const ahead = steadyNow() - Number(process.hrtime.bigint()) / 1_000_000
  for (const line of workers.flatMap((worker) => worker.logLines())) {
    if (line.msg !== 'request.sent') continue
    const id = String(line.subscriptionId)
    times.set(id, [...(times.get(id) ?? []), ahead + Number(line.monotonicMs)])
  }
  return times
}
