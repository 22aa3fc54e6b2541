/**
 * The share of the machine that other programs used. It is printed with the figures, because such a load changes them.
 */
import { readFileSync } from 'node:fs'
import type { Row } from '../scenario.ts'

/** The name of the figure. */
export const OTHERS = 'the machine, used by others meanwhile'

interface Ticks {
  all: number
  busy: number
  /** Ticks of this process and of its ended children. */
  own: number
}

/** NaN where there is no /proc. */
export function ticksNow(): Ticks {
  try {
    const cpu = fieldsOf(readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '').slice(1, 9)
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const own = fieldsOf(stat.slice(stat.lastIndexOf(')') + 2)).slice(11, 15)
    const [idle = 0, waiting = 0] = cpu.slice(3, 5)
    return { all: sum(cpu), busy: sum(cpu) - idle - waiting, own: sum(own) }
  } catch {
    return { all: Number.NaN, busy: Number.NaN, own: Number.NaN }
  }
}

function fieldsOf(line: string): number[] {
  return line.trim().split(/\s+/).map(Number)
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Share of all cores that all processes used since `before`. */
export function busyShare(before: Ticks, now = ticksNow()): number {
  return (now.busy - before.busy) / (now.all - before.all)
}

/** The share that other programs used since `before`. It must be called after the scenario's processes have ended. */
export function othersRow(before: Ticks, now = ticksNow()): Row {
  const share = Math.max(0, now.busy - before.busy - (now.own - before.own)) / (now.all - before.all)
  return { figure: OTHERS, value: share * 100, unit: '%' }
}
