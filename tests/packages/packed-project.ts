/** An empty project outside of the workspace, with packages as others install them: packed, on two releases of Node. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { NODE_MIN, ROOT } from '../repo/repository.ts'

const run = promisify(execFile)
const BIN = join(ROOT, 'node_modules/.bin')
/** The oldest Node that the packages support, by their `engines`. Tests also run on the pinned release. */
const OLDEST_NODE = `${NODE_MIN}.0`
const COMPILER = ['--noEmit', '--strict', '--module', 'nodenext', '--lib', 'es2024,dom,dom.iterable']

export type NodeRelease = 'pinned' | 'oldest'
export const NODE_RELEASES: readonly NodeRelease[] = ['pinned', 'oldest']

interface Run {
  args?: string[]
  env?: Record<string, string>
}

export class PackedProject {
  readonly folder: string
  /** Paths in each packed package, without `package/`. */
  readonly #files: ReadonlyMap<string, string[]>

  constructor(folder: string, files: ReadonlyMap<string, string[]>) {
    this.folder = folder
    this.#files = files
  }

  filesOf(name: string): string[] {
    return this.#files.get(name) ?? []
  }

  async write(file: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.folder, file)), { recursive: true })
    await writeFile(join(this.folder, file), text)
  }

  /** Runs a file of the project. Resolves with what it printed. */
  async runFile(release: NodeRelease, file: string, { args = [], env = {} }: Run = {}): Promise<string> {
    const node = release === 'pinned' ? process.execPath : join(this.folder, 'node_modules/node/bin/node')
    const own = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', ...env }
    const words = [join(this.folder, file), ...args]
    const { stdout, stderr } = await run(node, words, { cwd: this.folder, env: own })
    return stdout + stderr
  }

  /** Installs further packages. False: they cannot be had here. */
  async install(...packages: string[]): Promise<boolean> {
    return run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: this.folder }).then(
      () => true,
      () => false,
    )
  }

  /** Runs a command of an installed package. Resolves with what it printed. */
  async runCommand(command: string, args: string[], env: Record<string, string>): Promise<string> {
    const own = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', ...env }
    const { stdout } = await run(join(this.folder, 'node_modules/.bin', command), args, {
      cwd: this.folder,
      env: own,
    })
    return stdout
  }

  /** Compiles files of the project with the types that are named. */
  async compile(files: string[], types: string): Promise<void> {
    await run(join(BIN, 'tsc'), [...COMPILER, '--types', types, ...files], { cwd: this.folder })
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true })
  }
}

/** Packs packages into the folder. Resolves with the tarballs by the packages' folders in `packages/`. */
export async function packTarballs(packages: string[], folder: string): Promise<Map<string, string>> {
  const tarballs = new Map<string, string>()
  for (const name of packages) {
    const before = new Set(await readdir(folder))
    await run(join(BIN, 'pnpm'), ['pack', '--pack-destination', folder], {
      cwd: join(ROOT, 'packages', name),
    })
    const made = (await readdir(folder)).filter((file) => !before.has(file))
    tarballs.set(name, join(folder, made[0] ?? ''))
  }
  return tarballs
}

/** `packages`: their folders in `packages/`. `others`: further packages that npm installs. */
export async function packProject(packages: string[], others: string[] = []): Promise<PackedProject> {
  const folder = await mkdtemp(join(tmpdir(), 'fantail-project-'))
  const tarballs = await packTarballs(packages, folder)
  const files = new Map<string, string[]>()
  for (const [name, tarball] of tarballs) {
    const { stdout } = await run('tar', ['-tf', tarball])
    files.set(name, stdout.trim().replaceAll('package/', '').split('\n'))
  }
  await writeFile(join(folder, 'package.json'), '{"name":"empty","private":true}')
  const install = [
    'install',
    '--no-audit',
    '--no-fund',
    ...tarballs.values(),
    `node@${OLDEST_NODE}`,
    ...others,
  ]
  await run('npm', install, { cwd: folder })
  return new PackedProject(folder, files)
}
