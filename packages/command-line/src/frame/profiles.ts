/** Profiles: servers and their keys, in a file that only its owner may read. */
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandError } from '../output/exit-codes.ts'

interface Profile {
  url: string
  apiKey?: string
}

interface Profiles {
  /** The name of the profile in use. */
  current: string | null
  profiles: ReadonlyMap<string, Profile>
}

interface Stored {
  current: string | null
  profiles: Record<string, Profile>
}

type Environment = Record<string, string | undefined>

const NAME = /^[A-Za-z0-9_.-]{1,64}$/
const OTHERS_MAY = 0o077

export function profilesPath(env: Environment): string {
  const home = env.XDG_CONFIG_HOME?.trim() || join(env.HOME?.trim() || homedir(), '.config')
  return join(home, 'fantail', 'config.json')
}

/** Throws if the file is not what this command writes. */
export async function readProfiles(env: Environment): Promise<Profiles> {
  const path = profilesPath(env)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new CommandError('failed', `${path} cannot be read: ${error.message}`)
  })
  if (text === undefined) return { current: null, profiles: new Map() }
  const { mode } = await stat(path)
  if (mode & OTHERS_MAY) {
    throw new CommandError('refused', `${path} has keys, and others may read it.`, `Run: chmod 600 ${path}`)
  }
  return parsed(text, path)
}

function parsed(text: string, path: string): Profiles {
  try {
    const { current, profiles } = JSON.parse(text) as Stored
    for (const { url } of Object.values(profiles)) new URL(url)
    return { current, profiles: new Map(Object.entries(profiles)) }
  } catch {
    throw new CommandError(
      'failed',
      `${path} is not a file of profiles.`,
      'Mend it, or delete it and log in.',
    )
  }
}

/**
 * Replaces the file in one step. If the command is stopped meanwhile, the file is complete: the old one or the new one.
 */
export async function writeProfiles(env: Environment, { current, profiles }: Profiles): Promise<string> {
  const path = profilesPath(env)
  const next = `${path}.${process.pid}`
  const stored: Stored = { current, profiles: Object.fromEntries(profiles) }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(next, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 })
  await rename(next, path)
  return path
}

export function checkProfileName(name: string): string {
  if (NAME.test(name)) return name
  throw new CommandError('usage', `a profile has 1 to 64 of A-Z a-z 0-9 _ . - as its name, not ${name}`)
}
