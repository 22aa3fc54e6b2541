/** Memory and processor time of the services while a fault stays. */
import { cpuSeconds, residentBytes } from '../../harness/services/process-figures.ts'
import type { ServiceProcess } from '../../harness/services/service-process.ts'

/** Under the steady load of a run, a service takes a tenth of a processor. */
const CPU_SHARE_MAX = 0.5
/** The young generation of a process that has just started still grows. */
const GROWTH_BYTES_MAX = 134_217_728
const MEBIBYTE = 1_048_576

interface Used {
  label: string
  cpuShare: number
  grownBytes: number
}

/** Starts to measure. The returned function returns what each service has used since then. */
export function measureUsage(services: ServiceProcess[]): () => Used[] {
  const startedAt = performance.now()
  const first = services.map(({ pid }) => ({ cpu: cpuSeconds(pid), bytes: residentBytes(pid) }))
  return () => {
    const seconds = (performance.now() - startedAt) / 1_000
    return services.map(({ label, pid }, i) => ({
      label,
      cpuShare: (cpuSeconds(pid) - (first[i]?.cpu ?? 0)) / seconds,
      grownBytes: residentBytes(pid) - (first[i]?.bytes ?? 0),
    }))
  }
}

export function judgeUsage(used: Used[]): string[] {
  return used
    .filter(({ cpuShare, grownBytes }) => cpuShare > CPU_SHARE_MAX || grownBytes > GROWTH_BYTES_MAX)
    .map(({ label, cpuShare, grownBytes }) => {
      const grown = Math.round(grownBytes / MEBIBYTE)
      return `${label}: ${Math.round(cpuShare * 100)} % of a processor, memory grown by ${grown} MiB`
    })
}
