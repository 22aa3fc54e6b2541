// @ts-check
/**
 * Looks up processes, in /proc if it exists, or else with ps. The system reuses pids, so a process is known by its pid
 * and start time.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** @typedef {{ pid: number, parent: number, name: string, startedAt: string }} Process */

/**
 * @param {number} pid
 * @returns {Process | undefined} undefined: gone, or dead and not yet collected by its parent
 */
export function processOf(pid) {
  return existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid)
}

/** @param {Process} process the process that was seen before, and not a later one with the same pid */
export function isStillThere(process) {
  return processOf(process.pid)?.startedAt === process.startedAt
}

/** @param {number} pid @returns {Process | undefined} */
function fromProc(pid) {
  let text
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined // No such process.
  }
  const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
  const [state, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (state === 'Z' || state === 'X') return undefined
  return { pid, parent: Number(parent), name, startedAt: rest[17] ?? '' }
}

/** @param {number} pid @returns {Process | undefined} */
function fromPs(pid) {
  let text
  try {
    text = execFileSync('ps', ['-o', 'ppid=,stat=,lstart=,comm=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, LC_ALL: 'C' },
    }).trim()
  } catch {
    return undefined // ps answers 1 for a process that is gone.
  }
  const [parent, state, ...rest] = text.split(/\s+/)
  if (!parent || !state || state.startsWith('Z')) return undefined
  const name = rest.slice(5).join(' ').split('/').pop() ?? ''
  return { pid, parent: Number(parent), name, startedAt: rest.slice(0, 5).join(' ') }
}
