import { describe, expect, test } from 'vitest'
import { createAddressGuard } from './address-guard.ts'

/** Resolves like an attempt: the URL parser decides which address a literal host means. */
function refusalOf(url: string, options: Parameters<typeof createAddressGuard>[0] = { allowPrivate: false }) {
  const { hostname } = new URL(url)
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return createAddressGuard(options).refusal(host, host)
}

describe('without private addresses', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.255.255.254/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://0177.0.0.01/',
    'http://0/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://167772161/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.168.1.1/',
    'http://0xc0a80101/',
    'http://100.64.0.1/',
    'http://100.100.100.200/',
    'http://169.254.169.254/',
    'http://0xA9FEA9FE/',
    'http://2852039166/',
    'http://0251.0376.0251.0376/',
    'http://168.63.129.16/',
    'http://192.0.0.192/',
    'http://198.18.0.1/',
    'http://203.0.113.7/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://①②⑦.0.0.1/',
    'http://127。0。0。1/',
    'http://%31%32%37.0.0.1/',
    'http://[::]/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:0:7f00:1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[64:ff9b:1::1]/',
    'http://[2002:7f00:1::]/',
    'http://[2002:c0a8:101::1]/',
    'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
    'http://[100::1]/',
    'http://[5f00::1]/',
    'http://[4000::1]/',
    'http://localhost.@127.0.0.1/',
    'http://example.com@127.0.0.1/',
    'http://example.com:80@10.0.0.1/',
    'http://8.8.8.8%2f@192.168.0.1/',
    'http://127.0.0.1./',
    'http://127.0.0.1:80#@example.com/',
    'http:\\\\127.0.0.1\\@example.com/',
    'http:127.0.0.1/',
    'http:///127.0.0.1/',
    'http://0x7f.0.0.0x1/',
    'http://00000177.0.0.1/',
    'http://0x00000000000000007f.0.0.1/',
    'http://127.0x000001/',
    'http://10.1/',
    'http://0xa9.254.43518/',
    'http://3232235777/',
    'http://１２７.０.０.１/',
    'http://169｡254｡169｡254/',
    'http://127.0.0.1\t/',
    'http://12\n7.0.0.1/',
    'http://0.1.2.3/',
    'http://192.0.0.8/',
    'http://192.0.2.1/',
    'http://198.51.100.9/',
    'http://192.88.99.1/',
    'http://239.255.255.250/',
    'http://[::ffff:0.0.0.0]/',
    'http://[0:0:0:0:0:ffff:0a00:0001]/',
    'http://[::ffff:c0a8:0001]/',
    'http://[::a00:1]/',
    'http://[64:ff9b::169.254.169.254]/',
    'http://[2002:a9fe:a9fe::]/',
    'http://[2001:4860::5efe:7f00:1]/',
    'http://[2001:4860::200:5efe:10.0.0.1]/',
    'http://[fd00::5efe:8.8.8.8]/',
    'http://[fe80::200:5efe:8.8.8.8]/',
    'http://[64:ff9b:1:a00:0:5efe:8.8.8.8]/',
    'http://[2001::1]/',
    'http://[3fff::1]/',
    'http://[ff05::1:3]/',
  ])('refuses %s', (url) => {
    expect(refusalOf(url)).toMatch(/^a \w+ address$/)
    expect(refusalOf(url, { allowPrivate: true })).toBeUndefined()
  })

  test.each([
    'http://8.8.8.8/',
    'http://134744072/',
    'http://172.15.255.255/',
    'http://172.32.0.1/',
    'http://169.253.0.1/',
    'http://[2606:4700::1111]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[64:ff9b::8.8.8.8]/',
    'http://[2002:808:808::1]/',
    'http://[2002:808:808::5efe:8.8.8.8]/',
    'http://[2001:4860::5efe:8.8.8.8]/',
  ])('allows %s', (url) => {
    expect(refusalOf(url)).toBeUndefined()
  })
})

test.each(['', 'localhost', '0177.0.0.1', '127.1', '2130706433', '1.2.3.4 ', '[::1', '::1]', 'fe80::1%lo0'])(
  'a resolver that answers %j is not believed',
  (address) => {
    expect(createAddressGuard({ allowPrivate: false }).refusal('rebound.example', address)).toMatch(
      /not an address|linkLocal/,
    )
  },
)

describe('through a proxy', () => {
  const guard = createAddressGuard({
    allowPrivate: false,
    allow: ['hooks.internal', '10.1.0.0/16'],
    deny: ['*.evil.example', '8.8.8.8'],
  })

  test.each(['127.0.0.1', '::1', '169.254.169.254', '8.8.8.8', '::ffff:10.0.0.1'])(
    '%s is refused',
    (host) => {
      expect(guard.refusalThroughProxy(host)).toBeDefined()
    },
  )

  test.each([
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'redis',
    'metadata.google.internal',
    'nas.local',
    'a.evil.example.',
  ])('the name %s is refused', (host) => {
    expect(guard.refusalThroughProxy(host)).toBeDefined()
  })

  test.each(['hooks.example.com', 'hooks.internal.', '10.1.2.3', '8.8.4.4', 'evil.example'])(
    '%s may be asked for',
    (host) => {
      expect(guard.refusalThroughProxy(host)).toBeUndefined()
    },
  )

  test('with private addresses allowed, only denied ones are refused', () => {
    const open = createAddressGuard({ allowPrivate: true, deny: ['redis'] })
    expect(open.refusalThroughProxy('localhost')).toBeUndefined()
    expect(open.refusalThroughProxy('redis')).toBe('denied by configuration')
  })
})

describe('lists', () => {
  test('an allowed range, address or host may be private', () => {
    const guard = createAddressGuard({
      allowPrivate: false,
      allow: ['10.1.0.0/16', '192.168.0.5', 'fd00::/64', 'Hooks.Internal', '*.svc.cluster.local'],
    })
    expect(guard.refusal('a', '10.1.2.3')).toBeUndefined()
    expect(guard.refusal('a', '::ffff:10.1.2.3')).toBeUndefined()
    expect(guard.refusal('a', '10.2.2.3')).toBe('a private address')
    expect(guard.refusal('a', '192.168.0.5')).toBeUndefined()
    expect(guard.refusal('a', '192.168.0.6')).toBe('a private address')
    expect(guard.refusal('a', 'fd00::7')).toBeUndefined()
    expect(guard.refusal('hooks.internal.', '10.9.9.9')).toBeUndefined()
    expect(guard.refusal('x.svc.cluster.local', '10.9.9.9')).toBeUndefined()
    expect(guard.refusal('svc.cluster.local', '10.9.9.9')).toBe('a private address')
    expect(guard.refusal('evilsvc.cluster.local', '10.9.9.9')).toBe('a private address')
  })

  test('a denied address is refused even if another rule allows it', () => {
    const guard = createAddressGuard({
      allowPrivate: true,
      allow: ['169.254.0.0/16', 'good.example'],
      deny: ['169.254.169.254', 'bad.example', '8.8.0.0/16'],
    })
    for (const address of ['169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '8.8.4.4']) {
      expect(guard.refusal('good.example', address)).toBe('denied by configuration')
    }
    expect(guard.refusal('bad.example', '1.1.1.1')).toBe('denied by configuration')
    expect(guard.refusal('good.example', '169.254.1.1')).toBeUndefined()
  })

  test('an entry that is nothing known is an error at the start', () => {
    expect(() => createAddressGuard({ allowPrivate: false, allow: ['http://x/'] })).toThrow(/'http:\/\/x\/'/)
  })
})

describe('beforehand', () => {
  const guard = createAddressGuard({ allowPrivate: false })
  const hostOf = (url: string) => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')

  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://%31%32%37.0.0.1/',
    'http://１２７.0.0.1/',
    'http://0/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://169.254.169.254/',
    'http://2852039166/',
    'http://168.63.129.16/',
    'http://10.0.0.1/',
    'http://192.168.0.1/',
    'http://100.64.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://user:word@127.0.0.1:8080/x',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.b.localhost/',
    'http://localhost.localdomain/',
    'http://localhost6/',
    'http://ip6-loopback/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://metadata.goog/',
    'http://instance-data/latest',
  ])('%s is refused', (url) => {
    expect(guard.refusalBeforehand(hostOf(url))).toBeDefined()
  })

  // A name may resolve to any address, and lists may allow that address.
  test.each([
    'https://example.com/',
    'http://8.8.8.8/',
    'http://[2606:4700::1111]/',
    'http://receiver:8080/',
    'http://hooks.internal/',
    'http://svc.cluster.local/',
    'http://127.0.0.1.example.com/',
    'http://localhost.example.com/',
    'http://notlocalhost/',
  ])('%s is left to the connection', (url) => {
    expect(guard.refusalBeforehand(hostOf(url))).toBeUndefined()
  })

  test('goes by the lists', () => {
    const listed = createAddressGuard({
      allowPrivate: false,
      allow: ['127.0.0.0/8', 'metadata.goog'],
      deny: ['*.evil.example', '9.9.9.9', '127.0.0.2'],
    })
    const refused = ['a.evil.example', '9.9.9.9', '127.0.0.2', '10.0.0.1', 'metadata.google.internal']
    expect(refused.filter((host) => !listed.refusalBeforehand(host))).toEqual([])
    const open = ['localhost', '127.0.0.1', 'metadata.goog', 'evil.example', '9.9.9.8']
    expect(open.filter((host) => listed.refusalBeforehand(host))).toEqual([])
    const local = createAddressGuard({ allowPrivate: true, deny: ['169.254.169.254'] })
    const hosts = ['localhost', '10.0.0.1', 'metadata.google.internal', '169.254.169.254']
    expect(hosts.map((host) => local.refusalBeforehand(host) !== undefined)).toEqual([
      false,
      false,
      true,
      true,
    ])
  })
})
