/**
 * Opens the connections of the SMTP transport, over all addresses of the server side by side. nodemailer itself would
 * try one address for ten seconds before the next one.
 */
import { lookup } from 'node:dns/promises'
import { isIP, type Socket } from 'node:net'
import { raceAddresses } from '../connections/address-race.ts'
import { createResolver, NameError, type Resolver } from '../outbound/resolver.ts'

type SocketCallback = (error: Error | null, socket: Socket | null) => void
export type OpenSmtpSocket = (callback: SocketCallback) => void

/** Each dial ends within `timeoutMs`, or with `close`. */
export function createSmtpDials(
  { host, port }: { host: string; port: number },
  timeoutMs: number,
): { open: OpenSmtpSocket; close(): void } {
  const resolver = createResolver()
  const running = new Set<() => void>()
  return {
    open: (callback) => {
      let cancelRace = (): void => undefined
      const end: SocketCallback = (error, socket) => {
        if (!running.delete(cancel)) return socket?.destroy()
        clearTimeout(timer)
        cancelRace()
        callback(error && smtpErrorOf(error), socket)
      }
      const cancel = () => end(TIMED_OUT, null)
      const timer = setTimeout(cancel, timeoutMs)
      running.add(cancel)
      addressesOf(host, resolver).then(
        (addresses) => {
          if (running.has(cancel)) cancelRace = raceAddresses({ addresses, port }, end)
        },
        (error: Error) => end(error, null),
      )
    },
    close: () => {
      for (const cancel of running) cancel()
    },
  }
}

/** A name without a dot may need the search domains of resolv.conf, which only the system's own look-up applies. */
async function addressesOf(host: string, resolver: Resolver): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  try {
    return await resolver.resolve(host)
  } catch (error) {
    if (!(error instanceof NameError) || error.code !== 'ENOTFOUND') throw error
    const found = await lookup(host, { all: true })
    return found.map(({ address }) => address)
  }
}

const TIMED_OUT = Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })

/** The error with nodemailer's code, as its own dials would have made it. */
function smtpErrorOf(error: Error): Error {
  const { code, syscall } = error as NodeJS.ErrnoException
  const isName = error instanceof NameError || syscall === 'getaddrinfo'
  return Object.assign(new Error(error.message), {
    code: isName ? 'EDNS' : 'ECONNECTION',
    originalCode: code,
  })
}
