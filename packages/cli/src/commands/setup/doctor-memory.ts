/** Checks how much of Redis's memory is left until publishing is refused. */
import { type Client, getOverview } from '@fantail/client/api'
import type { Finding } from './doctor-finding.ts'

/** A share of the watermark. Above it, an operator should act before publishes are refused. */
const NEARLY_FULL = 0.8
const MIB = 1_048_576

export async function* checkMemory(client: Client): AsyncGenerator<Finding> {
  const { memory } = await getOverview({ client })
  const check = 'memory'
  // A key with prefixes does not see the memory.
  if (!memory) return
  const { usedBytes, watermarkBytes } = memory
  if (watermarkBytes === null) {
    const fix = 'Set maxmemory of Redis, or FANTAIL_REDIS_MEMORY_BYTES.'
    yield { check, status: 'warning', detail: 'nothing says how much Redis may use', fix }
    return
  }
  const detail = `${mib(usedBytes)} of ${mib(watermarkBytes)} MiB, from which on publishing is refused`
  if (usedBytes < watermarkBytes * NEARLY_FULL) yield { check, status: 'ok', detail }
  else {
    const fix = '`fantail lanes` and `fantail dlq list` show what fills it. Give Redis more memory in time.'
    yield { check, status: usedBytes < watermarkBytes ? 'warning' : 'failed', detail, fix }
  }
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}
