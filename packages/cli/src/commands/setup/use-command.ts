/** `fantail use` chooses the profile of the next commands. Without a name it lists all profiles. */

import type { Define } from '../../frame/command-context.ts'
import { examples } from '../../frame/examples.ts'
import { readProfiles, writeProfiles } from '../../frame/profiles.ts'
import { CommandError } from '../../output/exit-codes.ts'

export const use: Define = (command, does) => {
  command.argument('[profile]', 'the name of the profile; none lists them').action(
    does(async ({ env, out }, name?: string) => {
      const { current, profiles } = await readProfiles(env)
      if (name === undefined) {
        const rows = Object.entries(profiles).map(([profile, { url, apiKey }]) => ({
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
      const profile = profiles[name]
      if (!profile) {
        throw new CommandError('notFound', `there is no profile ${name}`, '`fantail use` lists them.')
      }
      await writeProfiles(env, { current: name, profiles })
      out.item({ profile: name, url: profile.url }, () => `profile ${name} is in use: ${profile.url}`, name)
    }),
  )
  examples(command, 'use', 'use prod')
}
