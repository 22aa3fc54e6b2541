/** When workers sent requests, by what they log at level debug (`request.sent`). */
import type { Stack } from '../services/stack.ts'

/** Of each subscription, in ms by the host's monotonic clock. */
export function sendTimes({ workers }: Pick<Stack, 'workers'>): Map<string, number[]> {
  const times = new Map<string, number[]>()
  for (const line of workers.flatMap((worker) => worker.logLines())) {
    if (line.msg !== 'request.sent') continue
    const id = String(line.subscriptionId)
    times.set(id, [...(times.get(id) ?? []), Number(line.monotonicMs)])
  }
  return times
}
