/** Leaves out the endpoints that this server cannot deliver to, such as private addresses. */
import { type Client, checkEndpoints } from '@fantail/client/api'
import { BATCH_MESSAGES_MAX, ENDPOINT_CHARS_MAX } from '@fantail/contracts'
import type { Findings } from '../plan/findings.ts'
import type { SvixApplication, SvixEndpoint } from './svix-source.ts'
import { labelOf } from './svix-subscription.ts'

/** Only the server knows which addresses its settings allow. It is asked before anything is made. */
export async function allowedEndpoints(
  applications: readonly SvixApplication[],
  client: Client,
  findings: Findings,
): Promise<SvixApplication[]> {
  const all = applications.flatMap((application) =>
    application.endpoints.map((endpoint) => ({ application, endpoint })),
  )
  const refused = new Set<SvixEndpoint>()
  const refuse = ({ application, endpoint }: (typeof all)[number], problem: string) => {
    refused.add(endpoint)
    const text = `endpoints that cannot be subscribed here: ${problem}`
    const subject = `${labelOf(application)} ${endpoint.uid ?? endpoint.id}`
    findings.add({ matter: 'messages', what: 'lost', text }, subject)
  }
  for (let from = 0; from < all.length; from += BATCH_MESSAGES_MAX) {
    const some = all.slice(from, from + BATCH_MESSAGES_MAX)
    const endpoints = some.map(({ endpoint }) => ({ endpoint: endpoint.url.slice(0, ENDPOINT_CHARS_MAX) }))
    const { problems } = await checkEndpoints({ client, body: { endpoints } })
    for (const [at, one] of some.entries()) {
      const isLong = one.endpoint.url.length > ENDPOINT_CHARS_MAX
      const problem = isLong ? `must have at most ${ENDPOINT_CHARS_MAX} characters` : problems[at]
      if (problem) refuse(one, problem)
    }
  }
  return applications.map((application) => ({
    ...application,
    endpoints: application.endpoints.filter((endpoint) => !refused.has(endpoint)),
  }))
}
