import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { raceAddresses } from './address-race.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A race over sockets that do only what the test says. */
function race(addresses: string[]) {
  const begun = new Map<string, Socket>()
  const ends: { error: Error | null; socket: Socket | null }[] = []
  const connect = ({ host }: { host: string }) => {
    const socket = new Socket()
    begun.set(host, socket)
    return socket
  }
  const cancel = raceAddresses({ addresses, port: 80, connect }, (error, socket) =>
    ends.push({ error, socket }),
  )
  const at = (address: string) => begun.get(address) as Socket
  const fail = (address: string, code: string) =>
    at(address).destroy(Object.assign(new Error(`${code} ${address}`), { code }))
  return {
    begun,
    ends,
    cancel,
    fail,
    accept: (address: string) => void at(address).emit('connect'),
    open: () => [...begun].filter(([, socket]) => !socket.destroyed).map(([address]) => address),
  }
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `10.0.0.${i + 1}`)

test('an address that needs longer than the next one’s start still wins, and the others are closed', () => {
  const { begun, ends, accept, open } = race(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
  vi.advanceTimersByTime(300)
  expect(open()).toEqual(['10.0.0.1', '10.0.0.2'])
  accept('10.0.0.1')
  expect(ends).toEqual([{ error: null, socket: begun.get('10.0.0.1') }])
  vi.advanceTimersByTime(10_000)
  expect(open()).toEqual(['10.0.0.1'])
  expect(begun.size).toBe(2)
})

test('the failure of one address begins the next at once and ends no other', async () => {
  const { begun, ends, fail, accept } = race(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
  vi.advanceTimersByTime(250)
  fail('10.0.0.2', 'ECONNREFUSED')
  await vi.waitFor(() => expect(begun.has('10.0.0.3')).toBe(true))
  fail('10.0.0.3', 'ECONNREFUSED')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(ends).toEqual([])
  accept('10.0.0.1')
  expect(ends).toEqual([{ error: null, socket: begun.get('10.0.0.1') }])
})

test('families take turns', async () => {
  const { begun, fail } = race(['10.0.0.1', '10.0.0.2', '10.0.0.3', '2001:db8::1', '2001:db8::2'])
  for (const address of ['10.0.0.1', '2001:db8::1', '10.0.0.2', '2001:db8::2', '10.0.0.3']) {
    await vi.waitFor(() => expect([...begun.keys()].at(-1)).toBe(address))
    fail(address, 'ENETUNREACH')
  }
})

test('if every address fails, the error has the first code and every text', async () => {
  const { ends, fail } = race(['10.0.0.1', '10.0.0.2'])
  vi.advanceTimersByTime(250)
  fail('10.0.0.1', 'ECONNREFUSED')
  fail('10.0.0.2', 'EHOSTUNREACH')
  await vi.waitFor(() => expect(ends).toHaveLength(1))
  expect(ends[0]?.error).toMatchObject({
    code: 'ECONNREFUSED',
    message: 'ECONNREFUSED 10.0.0.1, EHOSTUNREACH 10.0.0.2',
  })
})

test('at most eight addresses are tried at once, and every one gets its time', () => {
  const { begun, open, accept, ends } = race(numbered(20))
  vi.advanceTimersByTime(250 * 18)
  expect(begun.size).toBe(19)
  expect(open()).toEqual(numbered(19).slice(-8))
  vi.advanceTimersByTime(60_000)
  expect(open()).toHaveLength(8)
  accept('10.0.0.13')
  expect(ends).toHaveLength(1)
  expect(open()).toEqual(['10.0.0.13'])
})

test('a canceled race closes everything and calls nobody', () => {
  const { begun, cancel, open, ends } = race(numbered(5))
  vi.advanceTimersByTime(300)
  cancel()
  vi.advanceTimersByTime(60_000)
  expect(open()).toEqual([])
  expect(begun.size).toBe(2)
  expect(ends).toEqual([])
})
