/** How many workers and APIs `fantail all` runs. */

export const ALL_USAGE = `usage: fantail all [--workers N|auto] [--apis N|auto]

Runs the API, a worker and the redrive service. They end together when one of them ends.

With an option, fantail runs several of each and restarts one that ends. The other option is then auto:
a quarter of the cores run APIs, one is left for Redis, and workers have the rest.
Two cores or fewer run one of each.

Signals:
  SIGHUP   replaces one process after the other, without a lost request
  SIGTERM  ends everything when running work is done; a second one ends everything at once

Health and metrics of worker N are at FANTAIL_PORT + 10 + N, those of API N at FANTAIL_PORT + 110 + N.

Examples:
  fantail all --workers auto
  fantail all --workers 6 --apis 2`

/** @limit Workers, or APIs, of one `fantail all`. Past it: the command refuses to start. */
const COUNT_MAX = 99

export interface Counts {
  workers: number
  apis: number
}

/** Throws a RangeError if an option is neither `auto` nor a count. */
export function countsFor(cores: number, asked: { workers?: string; apis?: string }): Counts {
  const ofApis = Math.max(1, Math.round(cores / 4))
  const ofWorkers = Math.max(1, cores - ofApis - 1)
  return {
    apis: countOf('apis', asked.apis) ?? ofApis,
    workers: countOf('workers', asked.workers) ?? ofWorkers,
  }
}

/** undefined: as many as the cores allow. */
function countOf(name: string, text = 'auto'): number | undefined {
  if (text === 'auto') return undefined
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= COUNT_MAX) return count
  throw new RangeError(`--${name} takes auto or a whole number from 1 to ${COUNT_MAX}, not ${text}`)
}

const WORKER_PORTS = 10
const API_PORTS = 110

/** The port for health and metrics of one process. Port 0 means any free port. */
export function opsPort(port: number, role: 'worker' | 'api', number: number): number {
  if (port === 0) return 0
  const derived = port + (role === 'worker' ? WORKER_PORTS : API_PORTS) + number
  if (derived > 65_535)
    throw new RangeError(`FANTAIL_PORT ${port} is too high: ${role} ${number} needs ${derived}`)
  return derived
}
