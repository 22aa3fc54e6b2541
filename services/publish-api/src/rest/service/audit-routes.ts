/** The route of the audit trail: which caller has requested which change. */
import type { Caller } from '@fantail/access'
import { AuditList, AuditListQuery } from '@fantail/contracts/schemas/access/audit-schemas'
import type { StoredAuditLine } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { iso, isoOrNull } from '../../http/record-views.ts'

type Query = z.output<typeof AuditListQuery>
type List = z.input<typeof AuditList>

export function auditRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'listAudit',
      method: 'GET',
      path: '/v1/audit',
      tag: 'Keys',
      summary: 'List requested changes, made or refused',
      description:
        'The lines of the audit log, newest first: who asked for which change of what, and its result. They have no ' +
        'secrets, bodies or settings. A key with prefixes sees its own lines, any other key those of its account. A key ' +
        'of the server’s account also sees lines of callers without a key. `scannedTo` says how far a page looked.',
      query: AuditListQuery,
      answers: { 200: { description: 'A page', schema: AuditList } },
      handle: (call) => listAudit(deps, call),
    }),
  ]
}

async function listAudit(
  { auditReader, settings }: ApiDeps,
  { query, caller }: Call<Query>,
): Promise<Answer> {
  const { since, cursor, limit } = query
  const page = await auditReader.find({
    matches: (line) => maySee(caller, line, settings.arn.account) && matches(line, query),
    since: since === undefined ? undefined : Date.parse(since),
    cursor,
    limit,
  })
  const list: List = {
    entries: page.lines.map(viewOf),
    nextCursor: page.nextCursor,
    scannedTo: isoOrNull(page.scannedTo),
  }
  return ok(list)
}

function maySee(caller: Caller, { keyId, account }: StoredAuditLine, serversAccount: string): boolean {
  if (caller === null) return true
  if (caller.prefixes.length > 0) return keyId === caller.id
  return account === caller.account || (account === undefined && caller.account === serversAccount)
}

function matches(line: StoredAuditLine, { key, action, resource }: Query): boolean {
  if (key !== undefined && line.keyId !== key) return false
  if (action !== undefined && !line.action.toLowerCase().includes(action.toLowerCase())) return false
  return resource === undefined || Object.values(line.resource).some((value) => value.includes(resource))
}

function viewOf({
  at,
  account,
  address,
  portal,
  code,
  missed,
  ...line
}: StoredAuditLine): List['entries'][number] {
  return {
    ...line,
    at: iso(at),
    account: account ?? null,
    address: address ?? null,
    portal: portal ?? null,
    code: code ?? null,
    missed: missed ?? 0,
  }
}
