/**
 * The secret that `fantail listen` signs with. It stays the same for a profile, or for a server without one, so that a
 * developer configures it once. It is no key of a subscription.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Server } from '../../frame/command-context.ts'
import { profilesPath } from '../../frame/profiles.ts'
import { CommandError } from '../../output/exit-codes.ts'

const LISTEN_SECRET_BYTES = 32

/** Makes it at the first call. */
export async function listenSecret({ profile, url }: Server, env: NodeJS.ProcessEnv): Promise<string> {
  const path = join(dirname(profilesPath(env)), 'listen-secrets.json')
  const name = profile ?? url
  const secrets = await readSecrets(path)
  const known = secrets.get(name)
  if (known !== undefined) return known
  const secret = `whsec_${randomBytes(LISTEN_SECRET_BYTES).toString('base64')}`
  const next = `${path}.${process.pid}`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(next, `${JSON.stringify(Object.fromEntries(secrets.set(name, secret)), null, 2)}\n`, {
    mode: 0o600,
  })
  await rename(next, path)
  return secret
}

async function readSecrets(path: string): Promise<Map<string, string>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw new CommandError('failed', `${path} cannot be read: ${error.message}`)
  })
  try {
    return new Map(Object.entries(JSON.parse(text) as Record<string, string>))
  } catch {
    throw new CommandError('failed', `${path} is not JSON.`, 'Delete it: then a new secret is made.')
  }
}
