// @ts-check
/**
 * Lets one process at a time do a piece of work. The lock is a file that names its owner. It is linked into place as a
 * whole. After a crash the file remains, but its owner is gone, so the lock counts as free.
 */
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isStillThere, processOf } from './processes.mjs'

const POLL_MS = 200

/**
 * Takes the lock if it is free or its owner is gone.
 * @param {string} path
 * @returns {(() => void) | undefined} gives the lock back; undefined: a living process has the lock
 */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true })
  for (let tries = 0; tries < 3; tries++) {
    if (take(path)) return () => rmSync(path, { force: true })
    if (isLocked(path)) return undefined
    rmSync(path, { force: true })
  }
  return undefined
}

/**
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @param {{ onWait?: () => void }} [options]
 * @returns {Promise<T>}
 */
export async function withLock(path, work, { onWait } = {}) {
  let release = tryLock(path)
  if (!release) onWait?.()
  while (!release) {
    await delay(POLL_MS)
    release = tryLock(path)
  }
  try {
    return await work()
  } finally {
    release()
  }
}

/** @param {string} path */
function take(path) {
  const own = `${path}.${process.pid}`
  writeFileSync(own, JSON.stringify(processOf(process.pid)))
  try {
    linkSync(own, path)
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(own, { force: true })
  }
}

/** @param {string} path */
export function isLocked(path) {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return false
    throw error
  }
  return isStillThere(JSON.parse(text))
}
