/** `fantail whoami` shows the server, its version, and the id of the key. */

import { getReadiness } from '@fantail/client/api'
import { parseToken } from '@fantail/contracts'
import type { Define } from '../../frame/command-context.ts'
import { examples } from '../../frame/examples.ts'
import { fieldsText } from '../../output/text-table.ts'

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
