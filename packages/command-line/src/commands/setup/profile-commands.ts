/**
 * `fantail login` saves a server and its key as a profile, `use` chooses the profile of the next commands, and `whoami`
 * shows it. The key comes from stdin, never from the command line.
 */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { getReadiness, listTopics } from '@fantail/client/api'
import { parseToken } from '@fantail/contracts'
import { connectApi } from '../../frame/api-client.ts'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { readText } from '../../frame/command-input.ts'
import { checkProfileName, readProfiles, writeProfiles } from '../../frame/profiles.ts'
import { checkUrl } from '../../frame/server-choice.ts'
import { CommandError } from '../../output/exit-codes.ts'
import { fieldsText } from '../../output/text-table.ts'

const URL_DEFAULT = 'http://127.0.0.1:4100'

export const login: Define = (command, does) => {
  command
    .argument('[url]', 'the address of the server', URL_DEFAULT)
    .option('--name <profile>', 'the name of the profile', 'default')
    .action(does(save))
  examples(
    command,
    'login https://fantail.example.com --name prod < key.txt',
    'login  # a local stack, which asks for no key',
  )
}

async function save(context: CommandContext, given: string, { name }: { name: string }): Promise<void> {
  checkProfileName(name)
  const url = checkUrl(given)
  const apiKey = (await readSecret('API key (empty: none): ', context)) || undefined
  const client = connectApi({ url, apiKey, signal: context.signal })
  const { version } = await getReadiness({ client })
  await listTopics({ client, query: { limit: 1 } }).catch((error: unknown) => {
    // A key that may only publish gets 403 here, but is valid.
    if (!(error instanceof Error && 'status' in error && error.status === 403)) throw error
  })
  const { profiles } = await readProfiles(context.env)
  const profile = { url, ...(apiKey !== undefined && { apiKey }) }
  const path = await writeProfiles(context.env, {
    current: name,
    profiles: new Map(profiles).set(name, profile),
  })
  if (apiKey !== undefined && isOpen(url))
    context.out.warn('The key travels unencrypted: the URL is not https.')
  context.out.item(
    { profile: name, url, version },
    () => `profile ${name} is in use: ${url}, Fantail ${version}`,
    name,
  )
  context.out.note(`saved in ${path}`)
}

function isOpen(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** Reads a secret from stdin: a line of a pipe or file, or a line that a person types without seeing it. */
async function readSecret(prompt: string, context: CommandContext): Promise<string> {
  const { stdin, stderr, signal } = context
  if (!stdin.isTTY) return (await readText('-', context)).split('\n')[0]?.trim() ?? ''
  stderr.write(prompt)
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: hidden, terminal: true })
  try {
    return (await lines.question('', { signal })).trim()
  } finally {
    lines.close()
    stderr.write('\n')
  }
}

export const use: Define = (command, does) => {
  command.argument('[profile]', 'the name of the profile; none lists them').action(
    does(async ({ env, out }, name?: string) => {
      const { current, profiles } = await readProfiles(env)
      if (name === undefined) {
        const rows = [...profiles].map(([profile, { url, apiKey }]) => ({
          profile,
          url,
          hasKey: apiKey !== undefined,
          current: profile === current,
        }))
        out.rows(rows, [
          { title: 'PROFILE', of: (row) => row.profile },
          { title: 'SERVER', of: (row) => row.url },
          { title: 'KEY', of: (row) => (row.hasKey ? 'yes' : 'no') },
          { title: 'IN USE', of: (row) => (row.current ? 'yes' : '') },
        ])
        return
      }
      const profile = profiles.get(name)
      if (!profile) {
        throw new CommandError('notFound', `profile ${name} does not exist`, '`fantail use` lists them.')
      }
      await writeProfiles(env, { current: name, profiles })
      out.item({ profile: name, url: profile.url }, () => `profile ${name} is in use: ${profile.url}`, name)
    }),
  )
  examples(command, 'use', 'use prod')
}

export const whoami: Define = (command, does) => {
  command.action(
    does(async ({ api, server, out }) => {
      const { url, apiKey, profile = null } = await server()
      const { version, status } = await getReadiness({ client: await api() })
      const keyId = apiKey === undefined ? null : (parseToken(apiKey)?.id ?? 'not a key of Fantail')
      out.item({ profile, url, keyId, version, status }, () =>
        fieldsText([
          ['profile', profile],
          ['server', url],
          ['key', keyId],
          ['version', version],
          ['status', status],
        ]),
      )
    }),
  )
  examples(command, 'whoami', 'whoami --profile prod --json')
}
