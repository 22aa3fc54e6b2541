/** Checks that services in a container run without root, on a read-only file system, with the fewest rights. */
import { readApiSettings, readRedriveSettings, readWorkerSettings } from '@fantail/config'
import { KEY_SCOPES } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { filesMatching, textOf } from './repository.ts'

const dockerfile = textOf('infra/docker/Dockerfile')
const compose = textOf('infra/compose.yaml')

/** The stage that is shipped. */
const shipped = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))

/** The lines of compose.yaml that belong to one service alone, by the service's name. */
function services(): Map<string, string> {
  const all = compose.slice(compose.indexOf('\nservices:\n') + 11, compose.indexOf('\nvolumes:\n'))
  return new Map(
    [...all.matchAll(/^ {2}([a-z-]+):\n((?: {4}.*\n|\s*\n| *#.*\n)*)/gm)].map(([, name = '', text = '']) => [
      name,
      text,
    ]),
  )
}

test('the image’s process is not root, and nothing is written or changed after that', () => {
  const instructions = [...shipped.matchAll(/^([A-Z]+)\b(.*)$/gm)].map(([, name, rest]) => [
    name,
    rest?.trim(),
  ])
  const user = instructions.findIndex(([name]) => name === 'USER')
  expect(instructions[user]).toEqual(['USER', 'fantail'])
  const after = instructions.slice(user + 1).map(([name]) => name)
  expect(after.filter((name) => name !== 'EXPOSE' && name !== 'ENTRYPOINT' && name !== 'CMD')).toEqual([])
  expect(shipped).not.toMatch(/COPY --chown|chmod [0-7]*7\b|sudo/)
})

test('no secret is built into the image', () => {
  expect(dockerfile).not.toMatch(/(ARG|ENV)\b.*(KEY|SECRET|PASSWORD|TOKEN)/)
})

test('the image names its version, and the commit that it was built from', () => {
  const { version } = JSON.parse(textOf('package.json')) as { version: string }
  expect(shipped).toContain(`org.opencontainers.image.version=${version}`)
  expect(shipped).toMatch(/org\.opencontainers\.image\.revision=\$\{FANTAIL_COMMIT\}/)
  expect(shipped).toMatch(/^ARG FANTAIL_COMMIT=$/m)
  expect(shipped).toMatch(/^ENV .*FANTAIL_COMMIT=\$\{FANTAIL_COMMIT\}/m)
  expect(compose).toMatch(/args: \{ FANTAIL_COMMIT: "\$\{FANTAIL_COMMIT:-\}" \}/)
})

test('every container of ours has a read-only root file system, no capabilities and no way to new ones', () => {
  const common = compose.slice(compose.indexOf('x-fantail:'), compose.indexOf('\nservices:'))
  expect(common).toMatch(/^ {2}read_only: true$/m)
  expect(common).toMatch(/^ {2}cap_drop: \[ALL\]$/m)
  expect(common).toMatch(/^ {2}security_opt: \["no-new-privileges:true"\]$/m)
  const ours = ['api', 'worker', 'redrive']
  for (const name of ours)
    expect([name, services().get(name)]).toEqual([name, expect.stringContaining('<<: *fantail')])
  for (const [name, text] of services()) {
    expect([
      name,
      /privileged|cap_add|network_mode: host|read_only: false|user: ("?0"?|root)/.test(text),
    ]).toEqual([name, false])
  }
})

test('ports are published on loopback, Redis’s not at all', () => {
  const published = [...services()].flatMap(([name, text]) =>
    [...text.matchAll(/ports: \["([^"]+)"\]/g)].map(([, port]) => [name, port] as const),
  )
  expect(published.map(([name]) => name)).toEqual(expect.arrayContaining(['api', 'grafana', 'prometheus']))
  for (const [name, port] of published)
    expect([name, port]).toEqual([name, expect.stringMatching(/^127\.0\.0\.1:/)])
  expect(services().get('redis')).not.toContain('ports:')
})

test('the example key has every scope that its owner needs, and endpoints can be allowed one by one', () => {
  const example = /keys create --name me[^#]*#([^\n]*)/.exec(compose)?.[1] ?? ''
  const scopes = [...example.matchAll(/--scope (\w+)/g)].map(([, scope]) => scope)
  // A key with `manage` may consume, too (docs/security.md).
  // Text messages cost money, so this key does not send them.
  expect([...scopes, 'consume', 'sms'].toSorted()).toEqual([...KEY_SCOPES].toSorted())
  expect(compose).toMatch(/^ {4}FANTAIL_OUTBOUND_ALLOW: \$\{FANTAIL_OUTBOUND_ALLOW:-\}$/m)
})

test('every setting of an endpoint kind reaches the containers', () => {
  const kinds =
    /^#? ?(FANTAIL_(?:SMTP|EMAIL|SMS|FUNCTIONS|STREAMS|FCM|APNS|AWS_QUEUES|AWS_CREDENTIALS|AWS_TARGETS)\w*)=/gm
  const names = [...textOf('.env.example').matchAll(kinds)].map(([, name]) => name)
  expect(names).toEqual(expect.arrayContaining(['FANTAIL_SMS_URL', 'FANTAIL_STREAMS', 'FANTAIL_FCM_URL']))
  const missing = names.filter((name) => !compose.includes(`    ${name}: \${${name}:-}\n`))
  expect(missing).toEqual([])
})

test('keys are asked for: nothing turns that off', () => {
  expect(compose).not.toMatch(/FANTAIL_AUTH|ALLOW_UNAUTHENTICATED/)
  expect(compose).toMatch(/FANTAIL_MODE: server/)
})

test('every place has the ports at which the services listen', () => {
  const env = { FANTAIL_MODE: 'server', REDIS_URL: 'redis://redis' }
  const api = readApiSettings(env).port
  const worker = readWorkerSettings(env).opsPort
  const redrive = readRedriveSettings(env).opsPort
  const portOf = (path: string, pattern: RegExp) => [path, Number(pattern.exec(textOf(path))?.[1])]
  const chart = (component: string) => `infra/helm/fantail/templates/${component}.yaml`
  const job = (name: string) => new RegExp(`names: \\[${name}\\]\\s+type: A\\s+port: (\\d+)`)
  const prometheus = 'infra/prometheus/prometheus.yml'
  for (const [component, port] of Object.entries({ api, worker, redrive })) {
    const portName = component === 'api' ? 'http' : 'ops'
    const value = new RegExp(`"component" "${component}" "portName" "${portName}" "port" (\\d+)`)
    expect(portOf(chart(component), value)).toEqual([chart(component), port])
    expect(portOf(prometheus, job(component))).toEqual([prometheus, port])
  }
  expect(textOf('infra/helm/fantail/templates/_environment.tpl')).toContain(
    `"name" "FANTAIL_PORT" "value" "${api}"`,
  )
  expect(shipped).toContain(`EXPOSE ${api} ${worker} ${redrive}\n`)
  const exposed = textOf('infra/release/image/oci-image.mjs').match(/\d+(?=\/tcp)/g)
  expect(exposed).toEqual([api, worker, redrive].map(String))
  expect(textOf('packages/testing/README.md')).toContain(`(${api}, ${worker}, ${redrive})`)
  // One setting for all services would give two of them the same port.
  const shared = [
    'infra/compose.yaml',
    ...filesMatching('infra/systemd/*').filter((path) => !path.includes('@')),
  ]
  expect(shared.filter((path) => /OPS_PORT[=:]/.test(textOf(path)))).toEqual([])
})

test('the guides have the ports of the units', () => {
  const redrive = readRedriveSettings({}).opsPort
  const [, numbered = ''] =
    /FANTAIL_OPS_PORT=(\d+)%i/.exec(textOf('infra/systemd/fantail-worker@.service')) ?? []
  const operate = textOf('docs/guides/operate.md')
  expect(operate).toContain(`| redrive service | ${redrive} |`)
  expect(operate).toContain(`| worker 1 | ${numbered}1 |`)
  const known = ['4100', '4101', String(redrive), `${numbered}1`, `${numbered}2`]
  const named = filesMatching('{README.md,docs/**/*.md}').flatMap((path) =>
    [...textOf(path).matchAll(/127\.0\.0\.1:(\d+)\/(?:metrics|readyz|healthz)/g)].map(([, port]) => ({
      path,
      port,
    })),
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(({ port = '' }) => !known.includes(port))).toEqual([])
})
