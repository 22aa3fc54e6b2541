/** Checks before `fantail listen` makes its queue: the key's scopes and, if the server requires keys, a question. */
import { type Client, getSession } from '@fantail/client/api'
import type { CommandContext } from '../../frame/command-context.ts'
import { confirm } from '../../frame/confirm.ts'
import { CommandError } from '../../output/exit-codes.ts'

/**
 * `manage` is needed to make the queue, `read` to find topics and subscriptions, and `bodies` to see the texts of
 * messages.
 */
const SCOPES = ['manage', 'read', 'bodies'] as const

/** Throws unless the key has the scopes. If the server requires keys, a person must also agree. */
export async function checkRights(client: Client, what: string, context: CommandContext): Promise<void> {
  const { keysRequired, key } = await getSession({ client })
  if (!keysRequired) return
  const missing = SCOPES.filter((scope) => !key?.scopes.includes(scope))
  if (missing.length > 0) {
    const names = missing.join(' and ')
    throw new CommandError(
      'refused',
      `the key lacks the scope${missing.length === 1 ? '' : 's'} ${names}, which listen needs`,
      `fantail keys create --name listen ${SCOPES.map((scope) => `--scope ${scope}`).join(' ')}`,
    )
  }
  await confirm(what, context)
}
