import { describe, expect, test } from 'vitest'
import { createOwnHosts } from './own-hosts.ts'
import { readApiSettings, readRedriveSettings, readWorkerSettings } from './services.ts'

const env = {
  FANTAIL_PUBLIC_URL: 'https://Hooks.Example.org:8443/base/',
  FANTAIL_HOSTS: 'api, *.svc.example,10.1.2.3',
}
const hosts = createOwnHosts(readApiSettings(env), 'Laptop.local')

describe('local mode', () => {
  test.each([
    'localhost',
    'localhost:4100',
    'LOCALHOST.',
    'a.localhost',
    'a.b.LocalHost.:80',
    '127.0.0.1:4100',
    '127.0.0.1.',
    '127.255.255.254',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '[::1]',
    '[::1]:4100',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]:4100',
    '[::FFFF:7f00:1]',
    'laptop.local',
    'LAPTOP.LOCAL.:4100',
    'hooks.example.org',
    'hooks.example.org.:1',
    'api',
    'API:4100',
    'one.svc.example',
    '10.1.2.3:9',
    '[::ffff:10.1.2.3]',
  ])('answers to %s', (authority) => expect(hosts.has(authority)).toBe(true))

  test.each([
    'evil.example',
    'laptop',
    'worker:4101',
    'host.docker.internal',
    'fantail.test',
    'printer.local',
    'localhost.evil.example',
    'evil-localhost',
    '127.0.0.1.evil.example:4100',
    'svc.example',
    'www.hooks.example.org',
    '0.0.0.0',
    '128.0.0.1',
    '169.254.169.254',
    '[::]',
    '[::2]',
    '[::ffff:8.8.8.8]',
    '[::127.0.0.1]',
    'user@localhost',
    'localhost@evil.example',
    'localhost/evil',
    'localhost#evil.example',
    'localhost, evil.example',
    'localhost:4100:80',
    'localhost:x',
    'localhost:999999',
    '%6cocalhost',
    'ⅼocalhost',
    '[::1%25lo]',
    '::1',
    ' localhost',
    '',
  ])('does not answer to %j', (authority) => expect(hosts.has(authority)).toBe(false))

  test('a request without a Host header is no browser’s', () => expect(hosts.has(undefined)).toBe(true))

  test('a machine’s name that is no host name adds nothing', () => {
    expect(createOwnHosts({ mode: 'local' }, 'my mac').has('my')).toBe(false)
    expect(createOwnHosts({ mode: 'local' }, '').has('localhost')).toBe(true)
  })

  test('the machine’s own name is taken from it', () => {
    expect(createOwnHosts({ mode: 'local' }).has('no-name-of-this.example')).toBe(false)
  })
})

test('server mode answers to any', () => {
  expect(createOwnHosts({ mode: 'server' }).has('evil.example')).toBe(true)
})

test.each([readApiSettings, readWorkerSettings, readRedriveSettings])('%o reads the names', (read) => {
  const { publicUrl, hosts: added } = read(env)
  expect([publicUrl, added]).toEqual([
    'https://Hooks.Example.org:8443/base',
    ['api', '*.svc.example', '10.1.2.3'],
  ])
  expect(() => read({ FANTAIL_HOSTS: 'http://api' })).toThrow('FANTAIL_HOSTS')
})
