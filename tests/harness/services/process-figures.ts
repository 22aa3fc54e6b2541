/** Figures of a process, from Linux. */
import { readFileSync } from 'node:fs'
import type { Redis } from '@fantail/store'

const PAGE_BYTES = 4_096
const TICKS_PER_SECOND = 100

/** Resident bytes of a process; 0 if there is no such process. */
export function residentBytes(pid: number): number {
  return Number(procFile(pid, 'statm').split(' ')[1] ?? 0) * PAGE_BYTES
}

/** CPU seconds so far, including time in the kernel. 0 if there is no such process. */
export function cpuSeconds(pid: number): number {
  const text = procFile(pid, 'stat')
  // The name of the command, in brackets, may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND
}

/** A number of INFO. */
export async function redisFigure(redis: Redis, section: string, name: string): Promise<number> {
  const info = await redis.info(section)
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? Number.NaN)
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return '' // It has ended.
  }
}
