import { createHash } from 'node:crypto'
import { readScript, SCRIPT_CLASSES, type ScriptName } from '@fantail/store'
import { expect, test } from 'vitest'
import { runsScript } from './redis-requests.ts'

const NAMES = Object.keys(SCRIPT_CLASSES) as ScriptName[]
const MATCHERS = NAMES.map((name) => ({ name, matches: runsScript(name) }))

function commandOf(...words: string[]): Buffer {
  const encoded = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  return Buffer.from(`*${words.length}\r\n${encoded.join('')}`)
}

const ways: [string, (lua: string) => Buffer][] = [
  ['its text', (lua) => commandOf('eval', lua, '1', 'key')],
  ['its hash', (lua) => commandOf('evalsha', createHash('sha1').update(lua).digest('hex'), '1', 'key')],
]

test.each(ways)('each script is recognised by %s, and taken for no other', (_, commandFor) => {
  for (const name of NAMES) {
    const command = commandFor(readScript(name).lua)
    const found = MATCHERS.filter(({ matches }) => matches(command))
    expect(found.map((one) => one.name)).toEqual([name])
  }
})
