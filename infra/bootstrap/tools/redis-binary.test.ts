import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newFolder, removeFolder } from '../../dev/dev-task.fixture.ts'
import { findRedisServer, isTooOld, provideRedisServer } from './redis-binary.mjs'

let folder: string

beforeEach(async () => {
  folder = await newFolder()
})

afterEach(() => removeFolder(folder))

/** Makes an executable that prints this version line. Returns its folder, for PATH. */
async function serverSaying(line: string, name = 'redis-server'): Promise<string> {
  const dir = join(folder, `bin-${name}-${line.replaceAll(/\W/g, '')}`)
  await mkdir(dir)
  await writeFile(join(dir, name), `#!/bin/sh\necho '${line}'\n`)
  await chmod(join(dir, name), 0o755)
  return dir
}

/** An environment without the PATH of this machine and without its unpacked server. */
const search = (PATH: string) => ({ PATH, FANTAIL_REDIS_UNPACKED: join(folder, 'nothing') })

describe('a Redis server', () => {
  it.each([
    ['6.0.16', true],
    ['5.0.14', true],
    ['6.2.0', false],
    ['7.0.15', false],
    ['10.1.0', false],
  ])('with version %s is too old: %s', (version, tooOld) => {
    expect(isTooOld(version)).toBe(tooOld)
  })

  it('is taken from PATH, Valkey too', async () => {
    const dir = await serverSaying('Valkey server v=8.0.1 sha=0', 'valkey-server')

    const { server } = await findRedisServer(search(dir))
    expect(server).toEqual({ kind: 'binary', path: join(dir, 'valkey-server'), version: '8.0.1' })
  })

  it('is passed over if it is too old, and named if there is no other', async () => {
    const dir = await serverSaying('Redis server v=5.0.3 sha=0')

    const { server, reason } = await findRedisServer(search(dir))
    expect(server).toBeUndefined()
    expect(reason).toBe(`${dir}/redis-server is 5.0.3, older than 6.2`)
  })

  it('is fetched by the first way that works', async () => {
    const dir = join(folder, 'nowhere')
    const tried: string[] = []
    const way = (name: string, answer: string | { kind: 'docker'; image: string }) => ({
      name,
      get: async () => {
        tried.push(name)
        return answer
      },
    })
    const ways = [way('a', 'not here'), way('b', { kind: 'docker', image: 'redis' }), way('c', 'not asked')]

    expect(await provideRedisServer(search(dir), ways)).toEqual({ kind: 'docker', image: 'redis' })
    expect(tried).toEqual(['a', 'b'])
  })

  it('gives one message that names every way if none can be had', async () => {
    const ways = ['brew', 'dnf'].map((name) => ({ name, get: async () => `no ${name} here` }))

    await expect(provideRedisServer(search('/nowhere'), ways)).rejects.toThrow(
      /REDIS_URL.*\n.*on PATH: none found\n.*brew: no brew here\n.*dnf: no dnf here/,
    )
  })
})
