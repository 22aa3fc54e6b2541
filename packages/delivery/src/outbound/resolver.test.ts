import { createSocket } from 'node:dgram'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFairTimer, waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createResolver } from './resolver.ts'

const A = 1
const AAAA = 28

interface Zone {
  [name: string]: { a?: string[]; aaaa?: string[]; ttl?: number; silent?: (type: number) => boolean }
}

/** A name server on loopback that answers from `zone` (RFC 1035 §4) and counts its queries. */
async function startNameServer(zone: Zone) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = question(query)
    asked.push(`${name} ${type === A ? 'A' : 'AAAA'}`)
    const entry = zone[name]
    if (entry?.silent?.(type)) return
    const addresses = (type === A ? entry?.a : entry?.aaaa) ?? []
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(entry ? 0x8180 : 0x8183, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    const answers = addresses.map((address) => record(type, address, entry?.ttl ?? 60))
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const server = `127.0.0.1:${(socket.address() as AddressInfo).port}`
  return { server, asked, close: () => socket.close() }
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString())
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function record(type: number, address: string, ttl: number): Buffer {
  const data =
    type === A
      ? Buffer.from(address.split('.').map(Number))
      : Buffer.from(
          address
            .split(':')
            .flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]),
        )
  const fixed = Buffer.alloc(12)
  fixed.writeUInt16BE(0xc00c, 0)
  fixed.writeUInt16BE(type, 2)
  fixed.writeUInt16BE(1, 4)
  fixed.writeUInt32BE(ttl, 6)
  fixed.writeUInt16BE(data.length, 10)
  return Buffer.concat([fixed, data])
}

let names: Awaited<ReturnType<typeof startNameServer>>
let dir: string
let hostsPath: string
const zone: Zone = {}

beforeEach(async () => {
  for (const name of Object.keys(zone)) delete zone[name]
  names = await startNameServer(zone)
  dir = await mkdtemp(join(tmpdir(), 'fantail-hosts-'))
  hostsPath = join(dir, 'hosts')
})

afterEach(async () => {
  names.close()
  await rm(dir, { recursive: true })
})

const resolver = (set: object = {}) => createResolver({ servers: [names.server], hostsPath, ...set })

test('answers with both families, IPv4 first, and asks once for many', async () => {
  zone['two.example'] = { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8:0:0:0:0:0:1'] }
  const { resolve } = resolver()
  const all = await Promise.all(['two.example', 'TWO.example.', 'two.example'].map(resolve))
  expect(new Set(all.map(String))).toEqual(new Set(['192.0.2.1,192.0.2.2,2001:db8::1']))
  await resolve('two.example')
  expect(names.asked.toSorted()).toEqual(['two.example A', 'two.example AAAA'])
})

test('keeps an answer for its time to live, within bounds', async () => {
  zone['short.example'] = { a: ['192.0.2.1'], ttl: 0 }
  zone['long.example'] = { a: ['192.0.2.1'], ttl: 86_400 }
  const { resolve } = resolver({ ttlMinMs: 1, ttlMaxMs: 20 })
  await resolve('short.example')
  await resolve('long.example')
  zone['short.example'] = { a: ['192.0.2.9'] }
  zone['long.example'] = { a: ['192.0.2.9'] }
  await waitFor(async () => (await resolve('short.example'))[0] === '192.0.2.9')
  await waitFor(async () => (await resolve('long.example'))[0] === '192.0.2.9')
})

test('a name that does not exist is a NameError, and may exist a moment later', async () => {
  const { resolve } = resolver({ failureTtlMs: 5 })
  await expect(resolve('none.example')).rejects.toMatchObject({ name: 'NameError', code: 'ENOTFOUND' })
  zone['none.example'] = { a: ['192.0.2.3'] }
  await waitFor(() => resolve('none.example').catch(() => undefined), { what: 'the name to be there' })
})

test('a silent name server costs the bound, a silent second family only a moment', async () => {
  zone['mute.example'] = { silent: () => true }
  zone['half.example'] = { a: ['192.0.2.4'], silent: (type) => type === AAAA }
  const { resolve } = resolver({ timeoutMs: 300 })
  const took = startFairTimer()
  expect(await resolve('half.example')).toEqual(['192.0.2.4'])
  expect(took()).toBeLessThan(280)
  const tookMute = startFairTimer()
  await expect(resolve('mute.example')).rejects.toMatchObject({ code: 'ETIMEOUT' })
  expect(tookMute()).toBeLessThan(1_500)
})

test('the hosts file goes first and is read again when it changes; localhost needs neither', async () => {
  await writeFile(hostsPath, '# comment\n10.0.0.1  one.example alias # more\nnonsense x\n')
  zone['one.example'] = { a: ['192.0.2.1'] }
  const { resolve } = resolver()
  expect(await resolve('one.example')).toEqual(['10.0.0.1'])
  expect(await resolve('Alias')).toEqual(['10.0.0.1'])
  expect(await resolve('localhost')).toEqual(['127.0.0.1', '::1'])
  expect(names.asked).toEqual([])
  await writeFile(hostsPath, '10.0.0.2 one.example\n10.0.0.3 one.example localhost\n')
  await waitFor(async () => String(await resolve('one.example')) === '10.0.0.2,10.0.0.3')
  expect(await resolve('localhost')).toEqual(['10.0.0.3'])
})
