// @ts-check
/** Sends one inline command to a Redis on loopback, without a client library. */
import { connect } from 'node:net'

const TIMEOUT_MS = 1_000

/**
 * @param {number} port
 * @param {string} command
 * @returns {Promise<string | undefined>} the first reply, not decoded; undefined: none came in time
 */
export function askRedis(port, command) {
  return new Promise((resolve) => {
    let reply = ''
    const socket = connect({ port, host: '127.0.0.1', timeout: TIMEOUT_MS })
    const done = (/** @type {string | undefined} */ answer) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setEncoding('utf8')
    socket.once('connect', () => socket.write(`${command}\r\n`))
    socket.on('data', (text) => {
      reply += text
      if (isWhole(reply)) done(reply)
    })
    socket.once('timeout', () => done(undefined))
    socket.once('close', () => done(undefined))
    socket.once('error', () => done(undefined))
  })
}

/**
 * Whether the reply is complete.
 * @param {string} reply a simple string, an error or a bulk string
 */
function isWhole(reply) {
  const bulk = /^\$(\d+)\r\n/.exec(reply)
  if (!bulk) return reply.endsWith('\r\n')
  return Buffer.byteLength(reply) >= bulk[0].length + Number(bulk[1]) + 2
}

/** @param {number} port */
export async function answersPing(port) {
  return (await askRedis(port, 'PING'))?.startsWith('+PONG') ?? false
}
