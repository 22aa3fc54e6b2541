/**
 * Finds the release of this Fantail: the version in package.json, and the commit of the image or of the checkout. It
 * reads the files of git itself, because the program git refuses a checkout of another user. It imports only modules of
 * Node, because `fantail --version` must work without packages.
 */
import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Build {
  version: string
  /** `unknown` if neither FANTAIL_COMMIT nor a checkout names it. */
  commit: string
  /** Why the checkout's commit could not be read. */
  problem?: string
}

/** `src` and `dist` are equally deep in the repository. */
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const UNKNOWN = 'unknown'

/** `built`: the commit that the image was built from (FANTAIL_COMMIT). A package names its own in package.json. */
export function readBuild(built?: string, root = ROOT): Build {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Partial<Build>
  const { version = UNKNOWN, commit } = manifest
  const named = built || commit
  if (named) return { version, commit: named }
  try {
    return { version, commit: commitOf(root) ?? UNKNOWN }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { version, commit: UNKNOWN, problem: `the commit of ${root} cannot be read: ${why}` }
  }
}

/** undefined: there is no checkout. Throws if there is one that cannot be read. */
function commitOf(root: string): string | undefined {
  const git = join(root, '.git')
  if (!existsSync(git)) return undefined
  const dir = gitDir(root, git)
  const head = readFileSync(join(dir, 'HEAD'), 'utf8').trim()
  const ref = /^ref: (.+)$/.exec(head)?.[1]
  return ref === undefined ? head : commitOfRef(dir, ref)
}

/** In a worktree, `.git` is a file that names the folder. */
function gitDir(root: string, git: string): string {
  if (existsSync(join(git, 'HEAD'))) return git
  const named = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1]
  if (named === undefined) throw new Error(`${git} is neither a folder nor a link of git`)
  return isAbsolute(named) ? named : join(root, named)
}

/** A branch without commits has no file and no packed ref. */
function commitOfRef(dir: string, ref: string): string | undefined {
  const common = join(dir, 'commondir')
  const shared = existsSync(common) ? join(dir, readFileSync(common, 'utf8').trim()) : dir
  const file = join(shared, ref)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const packed = join(shared, 'packed-refs')
  if (!existsSync(packed)) return undefined
  const lines = readFileSync(packed, 'utf8').split('\n')
  return lines.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0]
}
