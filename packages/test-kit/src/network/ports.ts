/**
 * Loopback ports for the servers of tests. No two processes get the same port. Each process owns a block of ports while
 * it listens at the block's first one. When the process ends, the kernel frees that port. All ports lie below 32,768,
 * from where Linux takes ports for outgoing connections. A server that was killed therefore finds its port free when it
 * starts again.
 */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const FIRST = 12_000
const BLOCKS = 100
const BLOCK_SIZE = 100
/**
 * Nodes of a Redis Cluster talk to each other at their port plus this number. That port belongs to the block as well.
 */
const BUS_OFFSET = 10_000
const TRIES_MAX = 5

const ports = ownPorts()

/** A port that this process has not used before, and that no other test process gets. */
export async function freePort(): Promise<number> {
  const { value, done } = await ports.next()
  if (done) throw new Error('no test ports are left')
  return value
}

/** Starts a server at a free port. If another program has taken the port meanwhile, the next port is tried. */
export async function atFreePort<T>(start: (port: number) => Promise<T>, choose = freePort): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await start(await choose())
    } catch (error) {
      if (tries === TRIES_MAX || !isPortTaken(error)) throw error
    }
  }
}

/** Recognises the error by the texts of a Redis log and of a container daemon. */
function isPortTaken(error: unknown): boolean {
  return /address already in use|port is already allocated/i.test(String(error))
}

async function* ownPorts(): AsyncGenerator<number, void, void> {
  for (;;) {
    const first = await takeBlock()
    for (let port = first + 1; port < first + BLOCK_SIZE; port++)
      if ((await isFree(port)) && (await isFree(port + BUS_OFFSET))) yield port
  }
}

/** Resolves with the first port of the block. */
async function takeBlock(): Promise<number> {
  const start = randomInt(BLOCKS)
  for (let i = 0; i < BLOCKS; i++) {
    const first = FIRST + ((start + i) % BLOCKS) * BLOCK_SIZE
    if (await listen(first, 'for ever')) return first
  }
  throw new Error(`all ${BLOCKS} blocks of test ports are taken`)
}

function isFree(port: number): Promise<boolean> {
  return listen(port, 'briefly')
}

/** Resolves with whether listening at the port worked. `for ever`: until the process ends. */
function listen(port: number, time: 'briefly' | 'for ever'): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false)
      else reject(error)
    })
    server.listen(port, '127.0.0.1', () => {
      if (time === 'briefly') return server.close(() => resolve(true))
      server.unref()
      resolve(true)
    })
  })
}
