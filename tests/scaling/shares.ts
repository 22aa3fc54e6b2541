/** The workers' shares of a run's deliveries, from their own metrics. */
import type { ServiceProcess } from '../harness/services/service-process.ts'
import type { Stack } from '../harness/services/stack.ts'

const DELIVERED = /^fantail_deliveries_delivered(?:_total)?\{([^}]*)\} (\d+)/gm

/** Number of deliveries of the topic that each worker has made. */
export function deliveredBy({ workers }: Stack, topic: string): Promise<number[]> {
  return Promise.all(workers.map((worker) => deliveredByWorker(worker, topic)))
}

async function deliveredByWorker(worker: ServiceProcess, topic: string): Promise<number> {
  const text = await (await fetch(`${worker.url}/metrics`)).text()
  let delivered = 0
  for (const [, labels = '', count] of text.matchAll(DELIVERED))
    if (labels.includes(`topic="${topic}"`)) delivered += Number(count)
  return delivered
}

/** The largest difference between a share and an even share, as a fraction of the even share. */
export function imbalance(shares: number[]): number {
  const even = shares.reduce((sum, share) => sum + share, 0) / shares.length
  return Math.max(...shares.map((share) => Math.abs(share - even))) / even
}
