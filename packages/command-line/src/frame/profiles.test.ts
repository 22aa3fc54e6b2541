import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { profilesPath, readProfiles, writeProfiles } from './profiles.ts'
import { checkUrl, chooseServer } from './server-choice.ts'

let env: { XDG_CONFIG_HOME: string }
const prod = { url: 'https://prod.example', apiKey: 'k1' }

beforeEach(async () => {
  env = { XDG_CONFIG_HOME: await mkdtemp(join(tmpdir(), 'fantail-profiles-')) }
})

afterEach(() => rm(env.XDG_CONFIG_HOME, { recursive: true }))

test('profiles are kept in a file that only the owner may read', async () => {
  expect(await readProfiles(env)).toEqual({ current: null, profiles: new Map() })
  const path = await writeProfiles(env, { current: 'prod', profiles: new Map([['prod', prod]]) })
  expect(path).toBe(profilesPath(env))
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readProfiles(env)).toEqual({ current: 'prod', profiles: new Map([['prod', prod]]) })
  expect(await readFile(path, 'utf8')).toContain('"apiKey": "k1"')

  await chmod(path, 0o644)
  await expect(readProfiles(env)).rejects.toThrow('others may read it')
})

test.each([
  [{}, {}, { url: 'https://prod.example', apiKey: 'k1', profile: 'prod' }],
  [{}, { FANTAIL_API_KEY: 'k2' }, { url: 'https://prod.example', apiKey: 'k2', profile: 'prod' }],
  [{}, { FANTAIL_URL: 'http://a:1/' }, { url: 'http://a:1', apiKey: undefined, profile: undefined }],
  [
    { url: 'http://b:2' },
    { FANTAIL_URL: 'http://a:1' },
    { url: 'http://b:2', apiKey: undefined, profile: undefined },
  ],
  [{ url: 'http://b:2' }, {}, { url: 'http://b:2', apiKey: undefined, profile: undefined }],
  [
    { profile: 'prod' },
    { FANTAIL_URL: 'http://a:1', FANTAIL_API_KEY: 'k2' },
    { url: 'https://prod.example', apiKey: 'k1', profile: 'prod' },
  ],
])(
  'flags %j and environment %j choose a server, and no key goes to a foreign one',
  async (flags, given, chosen) => {
    await writeProfiles(env, { current: 'prod', profiles: new Map([['prod', prod]]) })
    expect(await chooseServer({ color: true, ...flags }, { ...env, ...given })).toEqual(chosen)
  },
)

test('without a profile it is the local stack, and an unknown profile is refused', async () => {
  expect(await chooseServer({ color: true }, env)).toMatchObject({ url: 'http://127.0.0.1:4100' })
  await expect(chooseServer({ color: true, profile: 'x' }, env)).rejects.toThrow('profile x does not exist')
})

test.each(['x', 'ftp://a', 'http://user:pw@a', 'http://a?b=c'])('%s is no address of a server', (text) => {
  expect(() => checkUrl(text)).toThrow('the address must look like')
})
