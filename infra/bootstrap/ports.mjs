// @ts-check
/** Ports of this machine. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Linux uses ports from 32,768 for outgoing connections. A lower port is still free when its server restarts. */
const FIRST = 10_000
const COUNT = 2_000
const TRIES_MAX = 1_000

/** @returns {Promise<number>} a loopback port that is free now. It is random, so two callers get different ports */
export async function freePort() {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = FIRST + randomInt(COUNT)
    if (await isFree(port, '127.0.0.1')) return port
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT - 1} is free`)
}

/**
 * @param {number} port
 * @param {string} host
 * @returns {Promise<boolean>}
 */
export function isFree(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false)
      else reject(error)
    })
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}
