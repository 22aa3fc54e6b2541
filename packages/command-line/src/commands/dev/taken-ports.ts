/** Finds ports that another program listens on, before anything is started. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { CommandError } from '../../output/exit-codes.ts'

export async function refuseTakenPorts(ports: number[], host: string): Promise<void> {
  const taken: number[] = []
  for (const port of ports) if (!(await isFree(port, host))) taken.push(port)
  if (taken.length === 0) return
  const numbers = `port${taken.length === 1 ? '' : 's'} ${taken.join(', ')} of ${host}`
  throw new CommandError(
    'conflict',
    `${numbers} cannot be listened on: another Fantail, or another program, is there`,
    'Stop it, or choose other ports: --port 4200, or --port 0 for free ones.',
  )
}

async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return true
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  } finally {
    server.close()
  }
}
