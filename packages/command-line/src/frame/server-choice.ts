/**
 * Chooses the server of a command, and the key. Flags have priority over the environment, and the environment has
 * priority over the profile in use. The key of a profile is sent only to the server of the same profile.
 */
import { CommandError } from '../output/exit-codes.ts'
import type { GlobalFlags, Server } from './command-context.ts'
import { readProfiles } from './profiles.ts'

const URL_DEFAULT = 'http://127.0.0.1:4100'

export async function chooseServer(flags: GlobalFlags, env: NodeJS.ProcessEnv): Promise<Server> {
  const named = set(env.FANTAIL_URL)
  const key = set(env.FANTAIL_API_KEY)
  if (flags.profile === undefined && (flags.url ?? named) !== undefined) {
    return { url: checkUrl(flags.url ?? named ?? ''), apiKey: key, profile: undefined }
  }
  const { current, profiles } = await readProfiles(env)
  const name = flags.profile ?? current
  const profile = name === null ? undefined : profiles.get(name)
  if (name !== null && !profile) {
    throw new CommandError(
      'notFound',
      `profile ${name} does not exist`,
      `Run: fantail login URL --name ${name}`,
    )
  }
  if (flags.url !== undefined) return { url: checkUrl(flags.url), apiKey: key, profile: undefined }
  const apiKey = flags.profile === undefined ? (key ?? profile?.apiKey) : profile?.apiKey
  return { url: checkUrl(profile?.url ?? URL_DEFAULT), apiKey, profile: name ?? undefined }
}

/** Checks the URL, and removes the slash at its end. Throws if it is not an HTTP URL without a path. */
export function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new CommandError('usage', `the address must look like http://127.0.0.1:4100, not ${text}`)
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

function set(text: string | undefined): string | undefined {
  return text?.trim() || undefined
}
