import type { Socket } from 'node:net'

/** Resolves when the connection has ended, also by a reset. `once` of `node:events` rejects at a reset. */
export async function whenClosed(socket: Socket): Promise<void> {
  if (socket.closed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.on('error', () => undefined)
  socket.once('close', () => resolve())
  await promise
}
