import { execFileSync, spawnSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { addresses, checkPorts, curlLines, keyLines, localSettings } from './stack.mjs'

let server: Server | undefined

afterEach(() => new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined))))

it('counts every port from FANTAIL_PORT', () => {
  const places = addresses({ FANTAIL_PORT: '5000', FANTAIL_HOST: '::1' }).map(({ name, url }) => [name, url])

  expect(Object.fromEntries(places)).toEqual({
    'publish-api': 'http://[::1]:5000',
    'delivery-worker': 'http://[::1]:5001',
    redrive: 'http://[::1]:5002',
    receiver: 'http://[::1]:5009',
  })
})

/** The port of the server, which listens until the end of the test. */
async function takenPort(): Promise<number> {
  server = createServer()
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

it('names a port that is taken, and the way out', async () => {
  const port = await takenPort()

  await expect(checkPorts({ FANTAIL_PORT: String(port - 9) })).rejects.toThrow(
    new RegExp(`port ${port} \\(for receiver\\)[^]*FANTAIL_PORT=`),
  )
})

it('proposes a second data folder that git leaves out, because it has a master key', async () => {
  const port = await takenPort()
  const refusal: Error = await checkPorts({ FANTAIL_PORT: String(port - 9) }).catch((error) => error)
  const folder = /FANTAIL_DATA_DIR=(\S+)/.exec(refusal.message)?.[1]
  const ignored = execFileSync('git', ['check-ignore', `${folder}/master.key`], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  })
  expect(ignored).toBe(`${folder}/master.key\n`)
})

it.each(['start', 'quick', 'build'])('%s takes no arguments, and does nothing if it gets one', (command) => {
  const words = [join(import.meta.dirname, 'main.mjs'), command, '--help']
  // A command that began its work would go on for long.
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 20_000 })
  expect([status, stderr]).toEqual([1, `\nfantail: ${command} takes no arguments, but got --help\n\n`])
})

it('refuses a FANTAIL_PORT that is none', () => {
  expect(() => addresses({ FANTAIL_PORT: 'http' })).toThrow(/FANTAIL_PORT must be/)
})

it('makes the receiver every function and every stream', () => {
  const settings = localSettings({ FANTAIL_PORT: '5000' })
  expect(settings.FANTAIL_FUNCTIONS).toBe('{"*":"http://127.0.0.1:5009"}')
  expect(settings.FANTAIL_STREAMS).toBe('{"*":"http://127.0.0.1:5009/firehose"}')
})

it('makes the receiver the server for mail, but not where people read it', () => {
  const mail = (env: NodeJS.ProcessEnv) => localSettings(env).FANTAIL_SMTP_URL
  expect(mail({ FANTAIL_PORT: '5000' })).toBe('smtp://127.0.0.1:5008')
  expect(mail({ FANTAIL_HOST: '::1', FANTAIL_RECEIVER_SMTP_PORT: '25' })).toBe('smtp://[::1]:25')
  expect(mail({ FANTAIL_MODE: 'server' })).toBeUndefined()
})

it('makes the receiver the provider of text messages, but not beside one that is named', () => {
  const sms = (env: NodeJS.ProcessEnv) => {
    const { FANTAIL_SMS_URL, FANTAIL_SMS_COUNTRIES } = localSettings(env)
    return [FANTAIL_SMS_URL, FANTAIL_SMS_COUNTRIES?.split(',')[0]]
  }
  expect(sms({ FANTAIL_PORT: '5000' })).toEqual(['http://127.0.0.1:5009/sms', '+1=0.001'])
  const named = [
    { FANTAIL_SMS_URL: 'https://sms.example.com' },
    { FANTAIL_SMS_TWILIO: 'AC1:token' },
    { FANTAIL_MODE: 'server' },
  ]
  for (const env of named) expect(sms(env)).toEqual([undefined, undefined])
})

it('makes the receiver Firebase, but not beside one that is named', () => {
  const firebase = (env: NodeJS.ProcessEnv) => {
    const { FANTAIL_FCM_URL, FANTAIL_FCM_TOKEN_URL } = localSettings(env)
    return [FANTAIL_FCM_URL, FANTAIL_FCM_TOKEN_URL]
  }
  const url = 'http://127.0.0.1:5009'
  expect(firebase({ FANTAIL_PORT: '5000' })).toEqual([url, `${url}/token`])
  const named = [{ FANTAIL_FCM_URL: 'https://fcm.googleapis.com' }, { FANTAIL_MODE: 'server' }]
  for (const env of named) expect(firebase(env)).toEqual([undefined, undefined])
})

it('offers three lines: create, subscribe the receiver, publish', () => {
  const lines = curlLines('http://127.0.0.1:5000', 'http://127.0.0.1:5009')

  expect(lines.map((line) => /http:\S+/.exec(line)?.[0])).toEqual([
    'http://127.0.0.1:5000/v1/topics/hello',
    'http://127.0.0.1:5000/v1/topics/hello/subscriptions',
    'http://127.0.0.1:5000/v1/topics/hello/messages',
  ])
  expect(lines[1]).toContain('{"endpoint":"http://127.0.0.1:5009/ok"}')
  expect(lines.join()).not.toContain('TOKEN')
})

it('makes a key for them where keys are asked for', () => {
  const lines = curlLines('http://127.0.0.1:5000', 'http://127.0.0.1:5009', true)

  expect(lines.length).toBe(3)
  for (const line of lines) expect(line).toContain('-H "authorization: Bearer $TOKEN"')
})

it('makes the key in the folder of this stack, and shows no password of a Redis', () => {
  const made = /^TOKEN=\$\(npm run -s fantail -- keys create .*--quiet\)$/
  expect(keyLines({})).toEqual([expect.stringMatching(made)])
  const lineOf = (folder: string) => keyLines({ FANTAIL_DATA_DIR: folder })[0]
  expect(lineOf('/data/2')).toMatch(/^TOKEN=\$\(FANTAIL_DATA_DIR=\/data\/2 npm run/)
  expect(lineOf("/it's 2")).toContain(`FANTAIL_DATA_DIR='/it'\\''s 2' npm run`)
  const [note, line] = keyLines({ FANTAIL_DATA_DIR: '/data/2', REDIS_URL: 'redis://:secret@db' })
  expect([note, line]).toEqual([
    expect.stringContaining('settings of this stack'),
    expect.stringMatching(made),
  ])
})
