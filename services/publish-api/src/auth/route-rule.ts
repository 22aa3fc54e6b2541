/** The form of the rules of access: `native-rules.ts` and `portal-rules.ts` have them. */
import type { Target } from '@fantail/access'
import type { KeyScope } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'

/**
 * `public`: everybody may call it. `own`: the route checks the caller itself. `any`: any key is enough. A list: the key
 * needs one of these scopes.
 */
type Need = 'public' | 'own' | 'any' | readonly KeyScope[]

export interface RouteRule {
  need: Need
  /**
   * Only for keys without a restriction to names. They must have the server's own account, or any account with
   * `ownAccount`.
   */
  wholeServer?: true
  wholeAccount?: true
  /** The route of metrics. FANTAIL_OPEN_METRICS makes it public. */
  isMetrics?: true
  /** Only pages of this server may call it. */
  samePage?: true
  /** The cookie of a session is enough, without the header `X-Fantail-CSRF`. */
  sitesAlone?: true
  /** Only portal sessions may call it. They may call no other route. */
  portal?: true
  /** The route changes something, so it gets a line in the audit log. */
  change?: true
  /** The handler asks what else the caller may do (`mayDo`). */
  asks?: true
  targets?: (call: Call, deps: ApiDeps) => Target[] | Promise<Target[]>
  /**
   * The answer is a list, of which a key sees only its own items. `arn`: the member with the ARN of an item's resource.
   * `ofTopic`: the member with a topic whose keys see the item too.
   */
  list?: { member: string; arn: string; ofTopic?: string }
}
