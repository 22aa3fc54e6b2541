/** The artifacts of a release, each installed where nothing else is. `npm run release -- --check` runs this file. */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { useRedis } from '@fantail/test-kit/use-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deliverOne } from '../../infra/release/checks/delivery.mjs'
import { withEmptyRoot } from '../../infra/release/checks/empty-root.mjs'
import { textOf } from '../repo/repository.ts'

const run = promisify(execFile)
const TIMEOUT_MS = 300_000
const folder = process.env.FANTAIL_RELEASE ?? ''
/** The number of an architecture in the head of its programs. */
const MACHINES = { amd64: 62, arm64: 183 }

describe.runIf(folder)('the artifacts', async () => {
  const { server } = await useRedis({ appendfsync: 'always' })
  const named = (pattern: RegExp) => {
    const name = readdirSync(folder).find((one) => pattern.test(one))
    if (name === undefined) throw new Error(`${folder} has nothing like ${pattern}`)
    return join(folder, name)
  }
  const serverFor = (arch: string) => named(new RegExp(`^fantail-server_.*_linux-${arch}\\.tar\\.gz$`))

  test('agree with the checksums', async () => {
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder })
  })

  test(
    'the server delivers a message on a Debian without anything else',
    async () => {
      await withEmptyRoot(async (debian) => {
        await run('mkdir', ['-p', join(debian, 'opt/fantail')])
        const into = ['-C', join(debian, 'opt/fantail'), '--strip-components=1']
        await run('tar', ['-xzf', serverFor('amd64'), ...into])
        // This user owns nothing there.
        const words = ['--userspec=65534:65534', debian]
        const command = ['/usr/sbin/chroot', ...words, '/opt/fantail/bin/fantail']
        const env = { PATH: '/usr/bin:/bin', HOME: '/tmp' }
        await deliverOne({ command, env }, server.url)
        const pinned = JSON.parse(textOf('package.json')).devDependencies.node
        const { stdout } = await run('/usr/sbin/chroot', [...words, '/opt/fantail/bin/node', '--version'])
        expect(stdout.trim()).toBe(`v${pinned}`)
      })
    },
    TIMEOUT_MS,
  )

  test(
    'the servers for both architectures have the same files, but for Node',
    async () => {
      const contents = async (arch: keyof typeof MACHINES) => {
        const { stdout } = await run('tar', ['--utc', '-tvzf', serverFor(arch)], { maxBuffer: 2 ** 24 })
        return stdout
          .split('\n')
          .filter((line) => !line.endsWith('/bin/node'))
          .join('\n')
          .replaceAll(arch, '')
      }
      expect(await contents('arm64')).toBe(await contents('amd64'))
      for (const [arch, machine] of Object.entries(MACHINES)) {
        const words = ['-xzOf', serverFor(arch), '--wildcards', '*/bin/node']
        const { stdout } = await run('tar', words, { encoding: 'buffer', maxBuffer: 2 ** 28 })
        expect([arch, stdout.readUInt16LE(18)]).toEqual([arch, machine])
      }
    },
    TIMEOUT_MS,
  )

  test(
    'the npm package delivers a message from an empty project',
    async () => {
      const project = await mkdtemp(join(tmpdir(), 'fantail-project-'))
      onTestFinished(() => rm(project, { recursive: true }))
      const words = ['install', '--offline', '--no-audit', '--no-fund', '--prefix', project]
      await run('npm', [...words, named(/^fantail-cli-.*\.tgz$/)])
      const launcher = join(project, 'node_modules/@fantail/cli/dist/bin/fantail.mjs')
      const env = { PATH: '', HOME: project }
      const command = [process.execPath, launcher]
      await deliverOne({ command, env }, server.url)
    },
    TIMEOUT_MS,
  )
})
