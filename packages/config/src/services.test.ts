import { isAbsolute, join } from 'node:path'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { REPOSITORY_ROOT } from './schemas.ts'
import {
  type ApiSettings,
  readApiSettings,
  readReceiverSettings,
  readRedriveSettings,
  readWorkerSettings,
  type WorkerSettings,
} from './services.ts'
import { type Env, type SettingProblem, SettingsError } from './setting.ts'

const SERVER = {
  FANTAIL_MODE: 'server',
  REDIS_URL: 'redis://redis:6379',
}

function problemsOf(read: (env: Env) => unknown, env: Env): SettingProblem[] {
  try {
    read(env)
    return []
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
}

const namesOf = (problems: SettingProblem[]) => problems.map(({ name }) => name)

describe('settings', () => {
  it('need nothing in local mode, which stays on loopback', () => {
    const settings = readApiSettings({})
    expect(settings).toMatchObject({
      mode: 'local',
      host: '127.0.0.1',
      port: 4100,
      logLevel: 'info',
      maxRetrySeconds: 3_600,
      retryJitter: 0.1,
      allowPrivateEndpoints: true,
      sqsDeleteCooldownSeconds: 0,
      arn: { partition: 'aws', region: 'us-east-1', account: '000000000000' },
    })
    expect(settings.redisUrl).toBeUndefined()
    expectTypeOf<ApiSettings['port']>().toEqualTypeOf<number>()
    expectTypeOf<ApiSettings['mode']>().toEqualTypeOf<'local' | 'server'>()
    expectTypeOf<WorkerSettings['opsPort']>().toEqualTypeOf<number>()
  })

  it('take functions by name or ARN, and credentials with the ARNs that they may call', () => {
    const arn = 'arn:aws:lambda:us-east-1:000000000000:function:hello:live'
    const functions = { '*': 'http://127.0.0.1:4109', 'hello:7': 'https://user:pw@a/', [arn]: 'http://b/run' }
    const settings = readWorkerSettings({
      FANTAIL_FUNCTIONS: JSON.stringify(functions),
      FANTAIL_AWS_CREDENTIALS: 'AKIAX:wJal+rXUt/nFEMI=:t0ken//==',
      FANTAIL_AWS_TARGETS:
        'arn:aws:lambda:*:123456789012:function:a-*, arn:aws:lambda:eu-west-1:*:function:b',
    })
    expect(settings).toMatchObject({
      functions,
      awsClientCredentials: {
        accessKeyId: 'AKIAX',
        secretAccessKey: 'wJal+rXUt/nFEMI=',
        sessionToken: 't0ken//==',
      },
      awsTargets: ['arn:aws:lambda:*:123456789012:function:a-*', 'arn:aws:lambda:eu-west-1:*:function:b'],
    })
  })

  it.each([
    ['FANTAIL_FUNCTIONS', 'hello=http://secret'],
    ['FANTAIL_FUNCTIONS', '["http://secret"]'],
    ['FANTAIL_FUNCTIONS', '{"a b":"http://secret"}'],
    ['FANTAIL_FUNCTIONS', '{"hello":"ftp://secret"}'],
    ['FANTAIL_FUNCTIONS', '{"hello":"secret"}'],
    ['FANTAIL_FUNCTIONS', '{"hello":{"secret":1}}'],
    ['FANTAIL_STREAMS', '{"a/b":"http://secret"}'],
    ['FANTAIL_STREAMS', '{"orders":"/secret"}'],
    ['FANTAIL_STREAMS', '{"orders":"file://secret/x"}'],
    ['FANTAIL_STREAMS', '{"orders":"redis://secret/"}'],
    ['FANTAIL_STREAMS', '{"orders":"s3+https://key:secret@host"}'],
    ['FANTAIL_STREAMS', '{"orders":"s3:secret"}'],
    ['FANTAIL_AWS_QUEUES', '{"orders":"http://secret"}'],
    ['FANTAIL_AWS_QUEUES', '{"arn:aws:sqs:*:*:*":"s3://secret"}'],
    ['FANTAIL_AWS_QUEUES', '{"arn:aws:sqs:*:*:*":"https://key:secret%zz@host"}'],
    ['FANTAIL_AWS_CREDENTIALS', 'secret'],
    ['FANTAIL_AWS_CREDENTIALS', 'AKIA:secret:'],
    ['FANTAIL_AWS_TARGETS', '*'],
  ])('refuse %s=%s without a word of its secrets', (name, text) => {
    const both = { FANTAIL_AWS_CREDENTIALS: 'A:b', FANTAIL_AWS_TARGETS: 'arn:aws:lambda:*:*:function:*' }
    const problems = problemsOf(readApiSettings, { ...both, [name]: text })
    expect(namesOf(problems)).toEqual([name])
    expect(JSON.stringify(problems)).not.toContain('secret')
  })

  it.each([
    { FANTAIL_AWS_TARGETS: 'arn:aws:lambda:*:*:function:*' },
    { FANTAIL_STREAMS: '{"orders":"s3://bucket/orders?region=eu-west-1"}' },
    { FANTAIL_STREAMS: '{"orders":"s3+http://minio:9000/bucket"}' },
  ])('need credentials for %j', (env) => {
    expect(namesOf(problemsOf(readWorkerSettings, env))).toEqual(['FANTAIL_AWS_CREDENTIALS'])
    expect(problemsOf(readWorkerSettings, { ...env, FANTAIL_AWS_CREDENTIALS: 'A:b' })).toEqual([])
  })

  it('take a Redis Stream, and Fantail’s own Redis only where the URL says so', () => {
    const problems = (url: string) =>
      problemsOf(readWorkerSettings, {
        REDIS_URL: 'redis://127.0.0.1:6379',
        FANTAIL_STREAMS: JSON.stringify({ orders: url }),
      })
    expect(problems('redis://:secret@other:6379/1?stream=orders&maxlen=1000')).toEqual([])
    expect(namesOf(problems('redis://127.0.0.1:6379?stream=orders'))).toEqual(['FANTAIL_STREAMS'])
    expect(problems('redis://127.0.0.1:6379?stream=orders&own=true')).toEqual([])
    expect(namesOf(problems('redis://other:6379?stream=orders&maxlen=0'))).toEqual(['FANTAIL_STREAMS'])
  })

  it('take a bucket with credentials of its own', () => {
    const env = { FANTAIL_STREAMS: '{"orders":"s3+https://key:secret@minio:9000/bucket/orders"}' }
    expect(problemsOf(readApiSettings, env)).toEqual([])
  })

  it('take a provider of text messages with its countries, prices and statuses', () => {
    const env = {
      FANTAIL_SMS_URL: 'https://sms.example.com/send',
      FANTAIL_SMS_HEADERS: '{"Content-Type":"application/x-www-form-urlencoded","authorization":"Bearer x"}',
      FANTAIL_SMS_BODY: 'to={number}&text={message}',
      FANTAIL_SMS_STATUSES: '402=misconfigured, 410=optedOut',
      FANTAIL_SMS_COUNTRIES: '+1=0.0079, +49',
      FANTAIL_SMS_TWILIO: 'AC1:token',
    }
    for (const read of [readApiSettings, readWorkerSettings]) {
      expect(read(env)).toMatchObject({
        smsMethod: 'POST',
        smsStatuses: { 402: 'misconfigured', 410: 'optedOut' },
        smsCountries: [{ prefix: '+1', priceUsd: 0.0079 }, { prefix: '+49' }],
        smsTwilio: { accountSid: 'AC1', authToken: 'token' },
        smsPriceUsd: 0.1,
        smsMonthUsd: 1,
      })
    }
  })

  it('send text messages to no country that is not named, and refuse what cannot be a provider', () => {
    const url = { FANTAIL_SMS_URL: 'https://sms.example.com' }
    expect(problemsOf(readWorkerSettings, url)).toEqual([
      { name: 'FANTAIL_SMS_COUNTRIES', message: 'must be set where FANTAIL_SMS_URL is' },
    ])
    const wrong = [
      ['FANTAIL_SMS_COUNTRIES', '49'],
      ['FANTAIL_SMS_COUNTRIES', '+49=-1'],
      ['FANTAIL_SMS_TWILIO', 'secret'],
      ['FANTAIL_SMS_HEADERS', '{"x":"secret\\nY: 1"}'],
      ['FANTAIL_SMS_HEADERS', '{"content-type":"text/xml"}'],
      ['FANTAIL_SMS_BODY', '{"text":"{message}"}'],
      ['FANTAIL_SMS_STATUSES', '402=maybe'],
    ] as const
    for (const [name, text] of wrong) {
      const problems = problemsOf(readApiSettings, { ...url, FANTAIL_SMS_COUNTRIES: '+1', [name]: text })
      expect([text, ...namesOf(problems)]).toEqual([text, name])
      expect(JSON.stringify(problems)).not.toContain('secret')
    }
  })

  it('take a server for mail with its sender, and need TLS in server mode', () => {
    const mail = { FANTAIL_SMTP_URL: 'smtp://me:p%40ss@mail.example.com:587' }
    const local = readWorkerSettings({ ...mail, FANTAIL_EMAIL_FROM: 'Fantail News <news@example.com>' })
    expect(local).toMatchObject({
      smtpUrl: mail.FANTAIL_SMTP_URL,
      smtpTls: 'offered',
      smtpConnections: 5,
      emailDomainRate: 20,
      emailFrom: { name: 'Fantail News', address: 'news@example.com' },
    })
    const server = {
      ...SERVER,
      ...mail,
      FANTAIL_EMAIL_FROM: 'news@example.com',
      FANTAIL_PUBLIC_URL: 'https://fantail.example.com',
    }
    for (const read of [readApiSettings, readWorkerSettings]) {
      expect(read(server)).toMatchObject({ smtpTls: 'required', emailFrom: { name: 'Notifications' } })
    }
  })

  it('refuse half of what mail needs, and never repeat a login', () => {
    const mail = { ...SERVER, FANTAIL_SMTP_URL: 'smtp://me:secret@mail.example.com' }
    const problems = problemsOf(readWorkerSettings, {
      ...mail,
      FANTAIL_PUBLIC_URL: 'http://fantail.example.com',
    })
    expect(namesOf(problems)).toEqual(['FANTAIL_EMAIL_FROM', 'FANTAIL_PUBLIC_URL'])
    const dkim = problemsOf(readApiSettings, { FANTAIL_EMAIL_DKIM_DOMAIN: 'example.com' })
    expect(namesOf(dkim)).toEqual(['FANTAIL_EMAIL_DKIM_SELECTOR', 'FANTAIL_EMAIL_DKIM_KEY_FILE'])
    for (const text of [
      'http://me:secret@mail.example.com',
      'smtp://',
      'me:secret@mail.example.com',
      'smtp://me:secret@mail.example.com/?tls.rejectUnauthorized=false',
      'smtp://me:secret%@mail.example.com',
    ]) {
      const found = problemsOf(readApiSettings, { FANTAIL_SMTP_URL: text })
      expect(namesOf(found)).toEqual(['FANTAIL_SMTP_URL'])
      expect(JSON.stringify(found)).not.toContain('secret')
    }
    const senders = ['news', 'a@example.com, b@example.com', 'News <news>', 'N\r\nBcc: x <news@example.com>']
    for (const text of senders) {
      expect(namesOf(problemsOf(readApiSettings, { FANTAIL_EMAIL_FROM: text }))).toEqual([
        'FANTAIL_EMAIL_FROM',
      ])
    }
  })

  it('take access keys with their secrets and accounts', () => {
    const { awsCredentials } = readApiSettings({
      FANTAIL_ACCESS_KEYS: 'AKIAX:wJal+rXUt/nFEMI=, 123456789012:s , B:t:210987654321',
    })
    expect(awsCredentials).toEqual([
      { accessKeyId: 'AKIAX', secret: 'wJal+rXUt/nFEMI=' },
      { accessKeyId: '123456789012', secret: 's' },
      { accessKeyId: 'B', secret: 't', account: '210987654321' },
    ])
    for (const text of [
      'AKIAX',
      'AKIAX:',
      ':s',
      'A:s:12',
      'A:s,',
      'A:s t',
      'A:s,A:t',
      'A:s:123456789012:x',
    ]) {
      const [problem] = problemsOf(readApiSettings, { FANTAIL_ACCESS_KEYS: text })
      expect([text, problem?.name]).toEqual([text, 'FANTAIL_ACCESS_KEYS'])
    }
  })

  it('take the organizations of accounts, for API and worker alike', () => {
    const FANTAIL_ORGANIZATIONS = '111122223333=o-exampleorgid, 444455556666=o-exampleorgid'
    const organizations = new Map([
      ['111122223333', 'o-exampleorgid'],
      ['444455556666', 'o-exampleorgid'],
    ])
    for (const read of [readApiSettings, readWorkerSettings]) {
      expect(read({ FANTAIL_ORGANIZATIONS }).organizations).toEqual(organizations)
      expect(read({}).organizations).toBeUndefined()
    }
    for (const text of [
      'o-exampleorgid',
      '12=o-exampleorgid',
      '111122223333=x',
      `${FANTAIL_ORGANIZATIONS},`,
    ]) {
      const [problem] = problemsOf(readApiSettings, { FANTAIL_ORGANIZATIONS: text })
      expect([text, problem?.name]).toEqual([text, 'FANTAIL_ORGANIZATIONS'])
    }
    const twice = { FANTAIL_ORGANIZATIONS: '111122223333=o-exampleorgid,111122223333=o-exampleorgie' }
    expect(problemsOf(readApiSettings, twice)).toMatchObject([{ message: 'must name each account once' }])
  })

  it('server mode listens everywhere and guards private addresses', () => {
    expect(readApiSettings(SERVER)).toMatchObject({
      host: '0.0.0.0',
      allowPrivateEndpoints: false,
      sqsDeleteCooldownSeconds: 60,
    })
    expect(readWorkerSettings(SERVER)).toMatchObject({ host: '0.0.0.0', allowPrivateEndpoints: false })
  })

  it('take lists of addresses and hosts, and name what is neither', () => {
    const FANTAIL_OUTBOUND_ALLOW = '10.1.0.0/16, hooks.internal,*.svc'
    expect(readWorkerSettings({ FANTAIL_OUTBOUND_ALLOW }).outboundAllow).toEqual([
      '10.1.0.0/16',
      'hooks.internal',
      '*.svc',
    ])
    const env = { FANTAIL_OUTBOUND_ALLOW: '10.1', FANTAIL_OUTBOUND_DENY: 'a,http://b/' }
    expect(namesOf(problemsOf(readApiSettings, env))).toEqual([
      'FANTAIL_OUTBOUND_ALLOW',
      'FANTAIL_OUTBOUND_DENY',
    ])
  })

  it('take master keys without ever repeating one', () => {
    const key = 'f'.repeat(64)
    const both = { FANTAIL_MASTER_KEY: key, FANTAIL_MASTER_KEYS_OLD: `${'0'.repeat(64)}, ${key}` }
    const { masterKey, masterKeysOld } = readApiSettings(both)
    expect(masterKeysOld?.map(({ id }) => id)).toEqual([expect.any(String), masterKey?.id])
    const wrong = { FANTAIL_MASTER_KEY: `x${key}`, FANTAIL_MASTER_KEYS_OLD: `${key},y${key}` }
    const problems = problemsOf(readWorkerSettings, wrong)
    expect(namesOf(problems)).toEqual(['FANTAIL_MASTER_KEY', 'FANTAIL_MASTER_KEYS_OLD'])
    expect(JSON.stringify(problems)).not.toContain(key)
    expect(problemsOf(readApiSettings, { FANTAIL_MASTER_KEYS_OLD: key })).toEqual([
      { name: 'FANTAIL_MASTER_KEY', message: 'must be set where FANTAIL_MASTER_KEYS_OLD is' },
    ])
  })

  it('a master key that Vault has wrapped needs its address and a login', () => {
    const key = 'vault:1a2b3c4d:transit/fantail:v1:d3JhcHBlZCBrZXkgaGVyZQ=='
    const env = { FANTAIL_MASTER_KEY: 'f'.repeat(64), FANTAIL_MASTER_KEYS_OLD: key }
    for (const read of [readApiSettings, readWorkerSettings, readRedriveSettings])
      expect(namesOf(problemsOf(read, env))).toEqual(['FANTAIL_VAULT_URL', 'FANTAIL_VAULT_LOGIN'])
    const given = (login: string) => ({
      ...env,
      FANTAIL_VAULT_URL: 'https://vault:8200/',
      FANTAIL_VAULT_LOGIN: login,
    })
    expect(readApiSettings(given('approle:role:secret'))).toMatchObject({
      vaultUrl: 'https://vault:8200',
      vaultLogin: { by: 'approle', roleId: 'role', secretId: 'secret' },
    })
    for (const login of ['hvs.token', 'token:a:b', 'approle:role', 'kubernetes:a:b', 'ldap:a']) {
      const problems = problemsOf(readApiSettings, given(login))
      expect(namesOf(problems)).toEqual(['FANTAIL_VAULT_LOGIN'])
      expect(JSON.stringify(problems)).not.toContain(login)
    }
  })

  it('server mode without Redis names it', () => {
    for (const read of [readApiSettings, readWorkerSettings, readRedriveSettings]) {
      expect(namesOf(problemsOf(read, { FANTAIL_MODE: 'server' }))).toEqual(['REDIS_URL'])
    }
  })

  it('keys are asked for in server mode, in local mode where that is said, and never not in server mode', () => {
    expect(readApiSettings(SERVER).auth).toBe(true)
    expect(readApiSettings({}).auth).toBe(false)
    expect(readApiSettings({ FANTAIL_AUTH: 'on' }).auth).toBe(true)
    const [problem] = problemsOf(readApiSettings, { ...SERVER, FANTAIL_AUTH: 'off' })
    expect(problem).toMatchObject({
      name: 'FANTAIL_AUTH',
      message: expect.stringContaining('fantail keys create'),
    })
  })

  it('every problem is reported at once, by variable and bound', () => {
    const env = {
      FANTAIL_PORT: '65536',
      FANTAIL_LOG_LEVEL: 'loud',
      FANTAIL_RETRY_JITTER: '1.5',
      FANTAIL_ACCOUNT: '12',
      FANTAIL_HOST: '0.0.0.0',
      FANTAIL_ALLOW_PRIVATE_ENDPOINTS: 'maybe',
      REDIS_URL: 'http://:secret@redis',
      FANTAIL_PUBLIC_URL: 'example.org',
    }
    expect(() => readApiSettings(env)).toThrow(
      [
        'cannot start with these settings:',
        '  FANTAIL_PORT must be a whole number from 0 to 65535',
        '  FANTAIL_LOG_LEVEL must be one of debug, info, warn, error, silent',
        '  REDIS_URL must be a URL that begins with redis:// or rediss://',
        '  FANTAIL_ACCOUNT must be 12 digits',
        '  FANTAIL_PUBLIC_URL must be a URL that begins with http:// or https://',
        '  FANTAIL_RETRY_JITTER must be a number from 0 to 1',
        '  FANTAIL_ALLOW_PRIVATE_ENDPOINTS must be true or false',
        '  FANTAIL_HOST must be a loopback address (127.0.0.1, ::1 or localhost) in local mode; FANTAIL_MODE=server listens elsewhere',
      ].join('\n'),
    )
  })

  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('local mode takes the host %s', (host) => {
    expect(readApiSettings({ FANTAIL_HOST: host }).host).toBe(host)
  })

  it.each(['0.0.0.0', '::', '192.168.0.7', '127.evil.example', 'example.org'])(
    'local mode refuses the host %s',
    (host) => {
      expect(namesOf(problemsOf(readReceiverSettings, { FANTAIL_HOST: host }))).toEqual(['FANTAIL_HOST'])
    },
  )

  it('the other services count their ports from the API’s', () => {
    const env = { FANTAIL_PORT: '5000' }
    expect(readWorkerSettings(env).opsPort).toBe(5_001)
    expect(readRedriveSettings(env).opsPort).toBe(5_002)
    expect(readReceiverSettings(env).receiverPort).toBe(5_009)
    expect(readWorkerSettings({ ...env, FANTAIL_OPS_PORT: '9000' }).opsPort).toBe(9_000)
    expect(readWorkerSettings({ ...env, FANTAIL_OPS_PORT: '0' }).opsPort).toBe(0)
    expect(readWorkerSettings({ FANTAIL_PORT: '0' }).opsPort).toBe(0)
    expect(namesOf(problemsOf(readRedriveSettings, { FANTAIL_PORT: '65534' }))).toEqual(['FANTAIL_OPS_PORT'])
  })

  it('a key and its certificate are given together', () => {
    const key = { FANTAIL_SIGNING_KEY_FILE: 'key.pem' }
    expect(readWorkerSettings({ ...key, FANTAIL_SIGNING_CERT_FILE: '/etc/cert.pem' })).toMatchObject({
      signingKeyFile: join(REPOSITORY_ROOT, 'key.pem'),
      signingCertFile: '/etc/cert.pem',
    })
    expect(problemsOf(readWorkerSettings, key)).toEqual([
      { name: 'FANTAIL_SIGNING_CERT_FILE', message: 'must be set where FANTAIL_SIGNING_KEY_FILE is' },
    ])
    const both = { ...key, FANTAIL_TLS_CERT_FILE: 'cert.pem' }
    expect(namesOf(problemsOf(readApiSettings, both))).toEqual([
      'FANTAIL_SIGNING_CERT_FILE',
      'FANTAIL_TLS_KEY_FILE',
    ])
  })

  it('an empty variable is an unset one', () => {
    expect(readApiSettings({ FANTAIL_PORT: '', REDIS_URL: ' ' })).toMatchObject({ port: 4100 })
    expect(namesOf(problemsOf(readApiSettings, { ...SERVER, REDIS_URL: '' }))).toEqual(['REDIS_URL'])
  })

  it('a relative data folder is the repository’s, an absolute one stays', () => {
    expect(isAbsolute(REPOSITORY_ROOT)).toBe(true)
    expect(readApiSettings({}).dataDir).toBe(join(REPOSITORY_ROOT, '.fantail'))
    expect(readApiSettings({ FANTAIL_DATA_DIR: '/var/lib/fantail' }).dataDir).toBe('/var/lib/fantail')
  })

  it('a public URL loses the slash at its end', () => {
    expect(readApiSettings({ FANTAIL_PUBLIC_URL: 'https://hooks.example.org/' }).publicUrl).toBe(
      'https://hooks.example.org',
    )
  })
})

it.each(['FANTAIL_CORS_ORIGINS', 'FANTAIL_PORTAL_ORIGINS'])('%s takes exact origins alone', (name) => {
  const read = (text: string) => readApiSettings({ [name]: text })
  for (const text of ['https://app.example.com', 'http://localhost:3000,https://[2001:db8::1]:8443'])
    expect(() => read(text)).not.toThrow()
  for (const text of [
    'http://*.example.com',
    'https://*',
    'https://a;b.example.com',
    "https://a'b.example.com",
    'https://a,b.example.com',
    'https://app.example.com/',
    'https://user@app.example.com',
    'ftp://app.example.com',
    'null',
  ])
    expect(() => read(text), text).toThrow(name)
})
