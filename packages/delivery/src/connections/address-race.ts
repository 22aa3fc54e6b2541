/**
 * Opens a TCP connection to the first of several addresses that accepts one (RFC 8305, "Happy Eyeballs").
 *
 *   waiting ──250 ms after the one before, or its failure──▶ pending ──accepted──▶ the race is won, the others close
 *                                                               └──failed, or eight later ones began──▶ lost
 *
 * A pending address goes on beside later ones. So a distant address, or a handshake whose first packet was lost, needs
 * only its own time. Node's autoSelectFamily drops an address as soon as it tries the next one, and therefore never
 * reaches an address whose handshake takes longer than 250 ms.
 */
import { connect as connectTcp, isIPv6, type Socket } from 'node:net'

/** RFC 8305 §5: the recommended Connection Attempt Delay. */
const NEXT_ADDRESS_MS = 250
/**
 * Addresses of one name that a connection tries at the same time, each for at least two seconds. Past it: the one that
 * began first is dropped.
 */
const PENDING_ADDRESSES_MAX = 8

interface AddressRaceOptions {
  /** Addresses to try; never empty. Families take turns, beginning with the first address. */
  addresses: readonly string[]
  port: number
  /** Default: of node:net. */
  connect?: (target: { host: string; port: number }) => Socket
}

/**
 * `done` is called once, never before this function has returned, and not after the race was canceled. The error has
 * the code of the first address that failed. Returns the function that cancels.
 */
export function raceAddresses(
  { addresses, port, connect = connectTcp }: AddressRaceOptions,
  done: (error: Error | null, socket: Socket | null) => void,
): () => void {
  const waiting = alternating(addresses)
  const pending = new Map<Socket, string>()
  const errors: Error[] = []
  let timer: NodeJS.Timeout | undefined

  const end = (winner?: Socket) => {
    clearTimeout(timer)
    waiting.length = 0
    for (const socket of pending.keys()) if (socket !== winner) socket.destroy()
    pending.clear()
  }
  const lose = (socket: Socket, error: Error) => {
    if (!pending.delete(socket)) return
    errors.push(error)
    if (waiting.length > 0) begin()
    else if (pending.size === 0) done(errorOf(errors), null)
  }
  const dropFirst = () => {
    const [first] = pending
    if (!first) return
    const [socket, address] = first
    pending.delete(socket)
    socket.destroy()
    errors.push(Object.assign(new Error(`connect ETIMEDOUT ${address}:${port}`), { code: 'ETIMEDOUT' }))
  }
  const begin = () => {
    clearTimeout(timer)
    const host = waiting.shift()
    if (host === undefined) return
    if (pending.size >= PENDING_ADDRESSES_MAX) dropFirst()
    const socket = connect({ host, port })
    pending.set(socket, host)
    // This listener stays for the socket's life, so that a late error of a loser ends nothing.
    socket.on('error', (error) => lose(socket, error))
    socket.once('connect', () => {
      if (!pending.has(socket)) return
      end(socket)
      done(null, socket)
    })
    if (waiting.length > 0) timer = setTimeout(begin, NEXT_ADDRESS_MS)
  }
  begin()
  return () => end()
}

/** RFC 8305 §4: a family that leads nowhere delays the other one by one address only. */
function alternating(addresses: readonly string[]): string[] {
  const [first = ''] = addresses
  const same = addresses.filter((address) => isIPv6(address) === isIPv6(first))
  const other = addresses.filter((address) => isIPv6(address) !== isIPv6(first))
  const longer = Math.max(same.length, other.length)
  return Array.from({ length: longer }, (_, i) => [same[i], other[i]])
    .flat()
    .filter((address) => address !== undefined)
}

function errorOf(errors: Error[]): Error {
  const [first] = errors
  if (errors.length === 1 && first) return first
  const all = new AggregateError(errors, errors.map(({ message }) => message).join(', '))
  return Object.assign(all, { code: (first as NodeJS.ErrnoException | undefined)?.code })
}
