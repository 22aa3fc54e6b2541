// @ts-check
/**
 * Decides when a dev task must end: by SIGINT, SIGTERM or SIGHUP, or because the stack above it is gone. A killed turbo
 * sends no signal, and shells and pnpm between it and its tasks live on. So this module watches all parents up to the
 * top.
 */
import { isStillThere, processOf } from '../bootstrap/processes.mjs'

const WATCH_MS = 500

/**
 * Calls `end` once, with the reason.
 * @param {(reason: string) => void} end
 */
export function whenStackEnds(end) {
  let ended = false
  const once = (/** @type {string} */ reason) => {
    if (ended) return
    ended = true
    end(reason)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, once)
  const above = stackAbove(process.ppid)
  const timer = setInterval(() => {
    const gone = above.find((ancestor) => !isStillThere(ancestor))
    if (!gone) return
    clearInterval(timer)
    once(`${gone.name} (${gone.pid}) is gone`)
  }, WATCH_MS)
  timer.unref()
}

/**
 * The processes from the parent up to the one that FANTAIL_STACK_PID names, or else up to turbo. If neither exists,
 * only the parent.
 * @param {number} parent
 */
function stackAbove(parent) {
  /** @type {import('../bootstrap/processes.mjs').Process[]} */
  const chain = []
  for (let pid = parent; pid > 1; ) {
    const ancestor = processOf(pid)
    if (!ancestor) break
    chain.push(ancestor)
    pid = ancestor.parent
  }
  const top = Number(process.env.FANTAIL_STACK_PID)
  const topAt = chain.findIndex((ancestor) => ancestor.pid === top)
  const turboAt = chain.findLastIndex((ancestor) => ancestor.name === 'turbo')
  return chain.slice(0, Math.max(topAt, turboAt, 0) + 1)
}
