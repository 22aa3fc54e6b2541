/** Examples copied to a folder outside of the repository, as a reader has them, with the packages of this checkout. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitFor } from '@fantail/test-kit'
import { ROOT } from '../repo/repository.ts'

const run = promisify(execFile)
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH|ERR_SOCKET_TIMEOUT/
const PATIENCE_MS = 120_000

interface ExampleRun {
  output(): string
  /** Waits until the program has printed a match. */
  prints(expected: RegExp): Promise<void>
  /** Its exit code. */
  ended: Promise<number | null>
  stop(): Promise<void>
}

export class ExampleProject {
  readonly folder: string
  readonly #env: Record<string, string>
  readonly #runs = new Set<ExampleRun>()

  constructor(folder: string, env: Record<string, string>) {
    this.folder = folder
    this.#env = env
  }

  /** The processes are ended as a group, because npm starts a shell that starts the program. */
  start(command: string, args: string[], env: Record<string, string> = {}): ExampleRun {
    const own = { ...process.env, NODE_OPTIONS: '', NODE_ENV: '', NO_COLOR: '1', ...this.#env, ...env }
    const child = spawn(command, args, { cwd: this.folder, env: own, detached: true })
    const example = followed(child)
    this.#runs.add(example)
    return example
  }

  /** Resolves with the whole output. Rejects if the command fails, or takes longer. */
  async finish(command: string, args: string[], timeoutMs = PATIENCE_MS): Promise<string> {
    const example = this.start(command, args)
    const timer = setTimeout(() => void example.stop(), timeoutMs)
    const code = await example.ended
    clearTimeout(timer)
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${example.output()}`)
    return example.output()
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#runs].map((example) => example.stop()))
    await rm(this.folder, { recursive: true })
  }
}

function followed(child: ChildProcess): ExampleRun {
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more
    })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  return {
    output: () => text,
    prints: async (expected) => {
      await waitFor(() => expected.test(text) || isOver, { what: String(expected), timeoutMs: PATIENCE_MS })
      if (!expected.test(text)) throw new Error(`it ended without ${expected}:\n${text}`)
    },
    ended,
    stop: async () => {
      if (!isOver && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
      await ended
    },
  }
}

/**
 * A copy of an example, with the packages that its package.json names. `tarballs`: packages of this checkout, by their
 * folders in `packages/`. undefined: the registry cannot be reached.
 */
export async function installExample(
  name: string,
  tarballs: Map<string, string>,
  env: Record<string, string>,
): Promise<ExampleProject | undefined> {
  const folder = await mkdtemp(join(tmpdir(), `fantail-example-${name}-`))
  await cp(join(ROOT, 'examples', name), folder, { recursive: true })
  const manifest = join(folder, 'package.json')
  if (existsSync(manifest)) {
    const { dependencies, ...rest } = JSON.parse(await readFile(manifest, 'utf8'))
    for (const [own, tarball] of tarballs)
      if (`@fantail/${own}` in dependencies) dependencies[`@fantail/${own}`] = `file:${tarball}`
    await writeFile(manifest, JSON.stringify({ ...rest, dependencies }))
    try {
      await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder })
    } catch (error) {
      if (OFFLINE.test(String(error))) return undefined
      throw error
    }
  }
  return new ExampleProject(folder, env)
}
