/**
 * @fantail/cli as users install it: packed, in an empty project outside of the workspace, with its services and its
 * console. `npm run test:packages` runs this test.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { redisServerPath } from '@fantail/test-kit'
import { beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../repo/repository.ts'
import { NODE_RELEASES, type NodeRelease, type PackedProject, packProject } from './packed-project.ts'

const LAUNCHER = 'node_modules/@fantail/cli/dist/bin/fantail.mjs'

describe.runIf(process.env.FANTAIL_PACKAGES_LONG)('the packed command line', () => {
  let project: PackedProject

  beforeAll(async () => {
    project = await packProject(['cli'])
    return () => project.remove()
  }, 300_000)

  test('has its bundles, scripts, console, README and licences, and neither tests nor sources', () => {
    const names = project.filesOf('cli')
    const services = ['publish-api', 'delivery-worker', 'redrive', 'cli'].map(
      (name) => `dist/server/${name}.mjs`,
    )
    const texts = ['README.md', 'LICENSE', 'dist/server/THIRD-PARTY-LICENSES.txt']
    const page = 'dist/server/packages/console/dist/index.html'
    expect(names).toEqual(expect.arrayContaining(['dist/bin/fantail.mjs', ...services, ...texts, page]))
    expect(names.filter((name) => /\.test\.|fixture|^src|^build|\.map$|\.ts$/.test(name))).toEqual([])
  })

  test('brings no package along, and names no path of the machine that built it', () => {
    const folder = join(project.folder, 'node_modules/@fantail/cli')
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    expect([manifest.dependencies, manifest.private]).toEqual([undefined, undefined])
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.m?js$/.test(path),
    )
    expect(files.length).toBeGreaterThan(20)
    const named = files.filter((path) => readFileSync(join(folder, path), 'utf8').includes(process.cwd()))
    expect(named).toEqual([])
  })

  test('says on Node 14 which Node is needed, as npm’s scripts do', async () => {
    const old = await project.install('node-14@npm:node@14.21.3')
    expect(old).toBe(true)
    const node = join(project.folder, 'node_modules/node-14/bin/node')
    const run = (file: string) => spawnSync(node, [file, 'dev'], { encoding: 'utf8' })
    expect(run(join(project.folder, LAUNCHER)).stderr).toMatch(
      /^fantail needs Node [\d.]+ or newer, and this is v14/,
    )
    expect(run(join(ROOT, 'infra/bootstrap/main.mjs')).stderr).toMatch(
      /install Node \d+ or newer .* this is v14/,
    )
  }, 120_000)

  async function fantail(release: NodeRelease, args: string[], url: string): Promise<string> {
    return project.runFile(release, LAUNCHER, { args, env: { FANTAIL_URL: url } })
  }

  test.each(NODE_RELEASES)(
    'runs a stack and its commands, on the %s Node',
    async (release) => {
      expect(await project.runFile(release, LAUNCHER, { args: ['--version'] })).toMatch(
        /^fantail \d+\.\d+\.\d+ \(/,
      )
      const node =
        release === 'pinned' ? process.execPath : join(project.folder, 'node_modules/node/bin/node')
      const stack = spawn(node, [join(project.folder, LAUNCHER), 'dev', '--ephemeral', '--json'], {
        cwd: project.folder,
        env: { ...process.env, NODE_OPTIONS: '', FANTAIL_REDIS_SERVER: redisServerPath() },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(stack, 'exit')
      try {
        const [line] = await once(stack.stdout, 'data')
        const { url, consoleUrl } = JSON.parse(String(line))
        const page = await fetch(consoleUrl)
        expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('/console/assets/')])
        await fantail(release, ['topics', 'create', 'packed'], url)
        const receipt = await fantail(release, ['publish', 'packed', 'hello', '--json'], url)
        const explained = await fantail(release, ['explain', JSON.parse(receipt).messageId], url)
        expect(explained).toMatch(/^packed · 5 B .*\nno deliveries/)
        expect(await fantail(release, ['doctor'], url)).toMatch(/version: \S+ here and there/)
      } finally {
        stack.kill('SIGINT')
      }
      expect(await ended).toEqual([130, null])
    },
    120_000,
  )
})
