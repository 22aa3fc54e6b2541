/** Runs the proxies of docs/guides/reverse-proxy.md in front of an API, as a caller from another address sees them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type ClientHttp2Session, connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSelfSigned, freePort, waitFor } from '@fantail/test-kit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { useStack } from '../harness/services/stack.ts'
import { textOf } from '../repo/repository.ts'
import { isInstalled } from './shell.ts'

const HOST = 'fantail.example.com'
/** `npm run release -- --check` sets it. */
const isRelease = process.env.FANTAIL_RELEASE !== undefined
/** The proxy connects from 127.0.0.1, so a caller needs another address of this machine. */
const CALLER = '127.0.0.2'

const stack = useStack({
  workers: 0,
  env: { FANTAIL_HOSTS: HOST, FANTAIL_TRUSTED_PROXIES: '127.0.0.1' },
})
const certificate = createSelfSigned([HOST])

/** The configuration of the guide, at this port and with these files. */
function configOf(kind: 'nginx' | 'caddyfile', port: number, dir: string): string {
  const text = new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``).exec(
    textOf('docs/guides/reverse-proxy.md'),
  )?.[1]
  return (text ?? '')
    .replace('127.0.0.1:4100', new URL(stack().api.url).host)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replaceAll('/etc/ssl/fantail', join(dir, 'fantail'))
    .replace(/^fantail\.example\.com \{/, `https://${HOST}:${port} {\n  bind 127.0.0.1\n  tls internal`)
}

/** The rest of each proxy's configuration, and its command. */
const COMMANDS = {
  nginx: (config: string, dir: string) => ({
    text: [
      `user root; daemon off; pid ${dir}/pid; error_log stderr;`,
      'events {}',
      `http { access_log off; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}`,
      `${config} }`,
    ].join('\n'),
    words: ['nginx', '-c', join(dir, 'config'), '-p', dir],
  }),
  caddyfile: (config: string, dir: string) => ({
    text: `{\n  admin off\n  auto_https disable_redirects\n  skip_install_trust\n}\n${config}`,
    words: ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(dir, 'config')],
  }),
}

/** Resolves with a connection through the running proxy. */
async function startProxy(kind: keyof typeof COMMANDS): Promise<ClientHttp2Session> {
  const dir = await mkdtemp(join(tmpdir(), 'fantail-proxy-'))
  const port = await freePort()
  const { text, words } = COMMANDS[kind](configOf(kind, port, dir), dir)
  await writeFile(join(dir, 'fantail.pem'), certificate.cert)
  await writeFile(join(dir, 'fantail.key'), certificate.key)
  await writeFile(join(dir, 'config'), text)
  const [command = '', ...args] = words
  const child = spawn(command, args, { env: { PATH: process.env.PATH, HOME: dir }, stdio: 'pipe' })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  onTestFinished(async () => {
    const isRunning = child.exitCode === null && child.signalCode === null
    const ended = isRunning ? once(child, 'exit') : undefined
    child.kill()
    await ended
    await rm(dir, { recursive: true })
  })
  return await waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`${command} ended: ${said}`)
      return connected(port)
    },
    { what: `${command} to listen` },
  )
}

/** undefined: nothing listens yet. */
function connected(port: number): Promise<ClientHttp2Session | undefined> {
  const options = { rejectUnauthorized: false, servername: HOST, localAddress: CALLER }
  const session = connect(`https://127.0.0.1:${port}`, options)
  return new Promise((resolve) => {
    session.once('connect', () => resolve(session)).once('error', () => resolve(undefined))
    onTestFinished(() => session.destroy())
  })
}

/** `body` grows as the answer arrives. */
function ask(session: ClientHttp2Session, method: string, path: string, content?: string) {
  const type = content === undefined ? {} : { 'content-type': 'application/json' }
  const forged = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' }
  const headers = { ':method': method, ':path': path, ':authority': HOST, ...type, ...forged }
  const stream = session.request(headers, { endStream: content === undefined })
  const answer = { status: 0, body: '', ended: once(stream, 'close'), close: () => stream.close() }
  stream.on('response', ({ ':status': status = 0 }) => {
    answer.status = status
  })
  stream.setEncoding('utf8').on('data', (text: string) => {
    answer.body += text
  })
  if (content !== undefined) stream.end(content)
  return answer
}

describe.each([
  ['nginx', 'nginx'],
  ['caddy', 'caddyfile'],
] as const)('%s, as docs/guides/reverse-proxy.md configures it', (program, kind) => {
  test.skipIf(!isInstalled(program) && !isRelease)(
    'serves HTTP/2, passes on the caller’s address and Fantail’s own errors, and lets events through at once',
    async () => {
      if (!isInstalled(program))
        throw new Error(`a release is checked with ${program}: apt install ${program}`)
      const session = await startProxy(kind)
      expect(session.alpnProtocol).toBe('h2')
      const events = ask(session, 'GET', '/v1/events')
      await waitFor(() => events.status === 200, { what: 'the stream to begin' })

      const topic = `/v1/topics/behind-${program}`
      await ask(session, 'PUT', topic, '{}').ended
      const published = ask(session, 'POST', `${topic}/messages`, '{"message":"hello"}')
      await published.ended
      expect(published.status).toBe(202)
      await waitFor(() => events.body.includes('event: published'), { what: 'the event' })
      events.close()

      const large = ask(
        session,
        'POST',
        `${topic}/messages`,
        JSON.stringify({ message: 'x'.repeat(1_500_000) }),
      )
      await large.ended
      expect([large.status, JSON.parse(large.body)]).toMatchObject([413, { error: { code: 'too_large' } }])

      const lines = await waitFor(async () => {
        const audit = ask(session, 'GET', `/v1/audit?action=${encodeURIComponent('PUT /v1/topics/{topic}')}`)
        await audit.ended
        return audit.body.includes(`behind-${program}`) ? audit.body : undefined
      })
      expect(lines).toContain(`"address":"${CALLER}"`)
      expect(lines).not.toContain('203.0.113.9')
    },
  )
})
