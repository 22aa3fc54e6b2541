/** Counts the work that living workers lost, from their logs. */
import type { ServiceProcess } from '../services/service-process.ts'

type Line = ReturnType<ServiceProcess['logLines']>[number]

/** How many deliveries may have been repeated although no worker was killed. */
interface LostAlive {
  /** Attempts that timed out. They may have arrived, and the answer came too late. */
  late: number
  /** Deliveries of a run that was lost, or whose job was started again, and of claims whose lease had ended. */
  taken: number
}

/** Counts what the workers have lost since a time (epoch ms). */
export function lostAlive(workers: ServiceProcess[], since: number): LostAlive {
  const logged = workers.flatMap((worker) => worker.logLines())
  const lines = logged.filter(({ time }) => Date.parse(String(time)) >= since)
  const late = lines.filter(({ error }) => error === 'timeout').length
  const delivered = lines.filter(({ decision }) => decision === 'delivered')
  const claims = new Set(delivered.map(({ messageId, subscriptionId }) => `${messageId} ${subscriptionId}`))
  return { late, taken: deliveredInVain(lines) + delivered.length - claims.size }
}

function deliveredInVain(lines: Line[]): number {
  const runs = lines.filter(({ msg }) => msg === 'dispatch.run_ended')
  const starts = new Map<unknown, number>()
  for (const { job, fence } of runs) starts.set(job, Math.max(Number(fence), starts.get(job) ?? 0))
  const inVain = runs.filter(({ job, fence, lost }) => lost || Number(fence) < (starts.get(job) ?? 0))
  return inVain.reduce((sum, run) => sum + Number(run.delivered), 0)
}
