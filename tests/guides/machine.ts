/**
 * An empty machine for the guide to running Fantail. Folders replace those of the system, and processes replace
 * systemd's units. A function `systemctl` in bash starts and stops these processes. They run from the server tree that
 * the guide unpacks.
 */
import { access, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { freePort, startRedis, type TestRedis } from '@fantail/test-kit'
import { entriesOf, writeTarball } from '../../infra/release/tar-archive.mjs'
import { serverTree } from '../harness/services/server-tree.ts'
import { type ServiceName, ServiceProcess } from '../harness/services/service-process.ts'
import { replacedIn } from './guide-steps.ts'

export interface Machine {
  /** Addresses in the guide, and the test's addresses that replace them. */
  addresses: Record<string, string>
  /** Defines `systemctl`, and `fantail` as the guide installs it. */
  beginning: string[]
  api: string
  logText(): string
  stop(): Promise<void>
}

interface Unit {
  start(): Promise<void>
  stop(): Promise<void>
}

const SERVICES: Record<string, { name: ServiceName; port: number }> = {
  'fantail-api': { name: 'publish-api', port: 4100 },
  'fantail-redrive': { name: 'redrive', port: 4102 },
  'fantail-worker@1': { name: 'delivery-worker', port: 4111 },
  'fantail-worker@2': { name: 'delivery-worker', port: 4112 },
}
const REDIS_ARGS = ['--repl-diskless-sync-delay', '0']

/** The tarball of the guide, and the folder in it. */
const SERVER = 'fantail-server_0.1.0_linux-amd64'

/** Makes the machine. It has nothing but the tarball of a release. A second, empty Redis runs at port 6391. */
export async function startMachine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), 'fantail-machine-'))
  const etc = join(folder, 'etc')
  const settingsPath = join(etc, 'fantail.env')
  const [data, opt, unitFiles] = [join(folder, 'data'), join(folder, 'opt'), join(folder, 'units')]
  const bin = join(folder, 'bin')
  for (const path of [data, opt, unitFiles, bin]) await mkdir(path)
  const server = { appendfsync: 'always', spawned: true } as const
  const redis = await startRedis({ ...server, args: [...REDIS_ARGS, '--dir', data] })
  await redis.kill()
  const next = await startRedis({ ...server, args: REDIS_ARGS })
  const ports = new Map<number, number>()
  for (const { port } of Object.values(SERVICES)) ports.set(port, await freePort())
  const own = (port: number) => ports.get(port) ?? 0

  const addresses: Record<string, string> = {
    ...Object.fromEntries([...ports].map(([port, free]) => [`127.0.0.1:${port}`, `127.0.0.1:${free}`])),
    // Only root makes users and gives files to groups.
    'useradd ': ': ',
    ' -g fantail': '',
    [`${SERVER}.tar.gz`]: join(folder, `${SERVER}.tar.gz`),
    '/opt': opt,
    // Not below /etc.
    '/opt/fantail/etc/': `${opt}/fantail/etc/`,
    '/usr/local/bin': bin,
    '/etc/systemd/system': unitFiles,
    '/etc/fantail': etc,
    '/backup': join(folder, 'backup'),
    '/var/lib/fantail-redis': data,
    'redis://127.0.0.1:6390': redis.url,
    'redis://127.0.0.1:6391': next.url,
    '127.0.0.1 6390': `127.0.0.1 ${redis.port}`,
    '--port 6390': `--port ${redis.port}`,
  }
  await writeServer(folder, addresses)
  const processes: ServiceProcess[] = []
  const units = new Map<string, Unit>([['fantail-redis', unitOf(redis)]])
  for (const [unit, { name, port }] of Object.entries(SERVICES)) {
    const settings = async () => {
      const shared = parseEnv(await readFile(settingsPath, 'utf8')) as Record<string, string>
      const portName = name === 'publish-api' ? 'FANTAIL_PORT' : 'FANTAIL_OPS_PORT'
      // The receiver of the test has a private address.
      const ours = { FANTAIL_HOST: '127.0.0.1', FANTAIL_OUTBOUND_ALLOW: '127.0.0.1' }
      return { ...shared, ...ours, [portName]: String(own(port)) }
    }
    units.set(unit, serviceUnit(unit, name, { home: join(opt, 'fantail'), unitFiles, settings, processes }))
  }
  const control = await startControl(units)
  const api = `http://127.0.0.1:${own(4100)}`
  const { port } = control.address() as { port: number }
  return {
    addresses,
    beginning: [
      `systemctl() { curl -sSf --data "$*" http://127.0.0.1:${port}; }`,
      `fantail() { FANTAIL_URL=${api} ${join(bin, 'fantail')} "$@"; }`,
    ],
    api,
    logText: () => processes.map((one) => one.logText()).join('\n'),
    async stop() {
      control.closeAllConnections()
      control.close()
      await Promise.all(processes.map((one) => one.stop()))
      await Promise.all([redis.stop(), next.stop(), endServer(join(data, 'redis.pid'))])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Makes the tarball of a release. Its Node is that of the test, and it has the test's addresses. */
async function writeServer(folder: string, addresses: Record<string, string>): Promise<void> {
  const tree = join(folder, 'tree')
  await cp(serverTree(), tree, { recursive: true })
  for (const name of ['etc/fantail.env', 'bin/fantail']) {
    const path = join(tree, name)
    await writeFile(path, replacedIn(await readFile(path, 'utf8'), addresses))
  }
  const entries = [...entriesOf(tree, SERVER), { name: `${SERVER}/bin/node`, link: process.execPath }]
  await writeTarball(join(folder, `${SERVER}.tar.gz`), entries, 0)
  await rm(tree, { recursive: true })
}

/** Ends the server that the guide starts itself, if a step failed before the guide ended it. */
async function endServer(pidPath: string): Promise<void> {
  const text = await readFile(pidPath, 'utf8').catch(() => '')
  if (text !== '') process.kill(Number(text), 'SIGKILL')
}

interface Installed {
  /** The folder of the server tree. */
  home: string
  /** The folder of the unit files. */
  unitFiles: string
  settings(): Promise<Record<string, string>>
  processes: ServiceProcess[]
}

function serviceUnit(unit: string, name: ServiceName, installed: Installed): Unit {
  let current: ServiceProcess | undefined
  return {
    async start() {
      if (current?.running) return
      await access(join(installed.unitFiles, `${unit.replace(/@.*/, '@')}.service`))
      current = new ServiceProcess(name, unit, await installed.settings())
      current.bundles = join(installed.home, 'server')
      installed.processes.push(current)
      await current.start({ untilReady: false })
    },
    async stop() {
      const code = await current?.stop()
      if (code) throw new Error(`${unit} ended with ${code}`)
    },
  }
}

/** Waits until Redis answers, because the services do not wait for its unit. */
function unitOf(redis: TestRedis): Unit {
  return { start: () => redis.restart(), stop: () => redis.kill() }
}

/** Answers when the command is finished. */
async function startControl(units: Map<string, Unit>): Promise<Server> {
  const carryOut = async (command: string) => {
    const [verb = '', ...words] = command.split(' ').filter((word) => word !== '--now')
    const named = words.map((word) => {
      const unit = units.get(word)
      if (!unit) throw new Error(`no unit ${word}`)
      return unit
    })
    for (const unit of named) {
      if (/^(stop|disable|restart)$/.test(verb)) await unit.stop()
      if (/^(start|enable|restart)$/.test(verb)) await unit.start()
    }
  }
  const server = createServer((request, response) => {
    let command = ''
    request.on('data', (chunk) => {
      command += chunk
    })
    request.on('end', () => {
      carryOut(command).then(
        () => response.end(),
        (error: Error) => response.writeHead(500).end(error.message),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
