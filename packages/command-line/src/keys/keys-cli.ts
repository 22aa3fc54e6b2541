/** `fantail keys` manages API keys from the command line. It needs access to Redis. It also makes the first key. */
import { parseArgs } from 'node:util'
import { type AuditLog, keyView, makeKey, reportChange, type Shown } from '@fantail/access'
import { type ApiKeyRecord, KEY_SCOPES, problemsOf } from '@fantail/contracts'
import { NewKeyInput } from '@fantail/contracts/schemas/access/key-schemas'
import type { ApiKeys } from '@fantail/store'
import type { Vault } from '@fantail/vault'
import { CommandError } from '../output/exit-codes.ts'

export const KEYS_USAGE = `usage: fantail keys create --name NAME --scope SCOPE [--scope SCOPE …] [--prefix PREFIX …]
                           [--account ACCOUNT] [--limit REQUESTS_PER_SECOND] [--aws] [--quiet | --json]
       fantail keys list [--account ACCOUNT] [--json]
       fantail keys revoke ID [--json]

scopes: ${KEY_SCOPES.join(', ')}; --aws makes an access key for the AWS protocols; --quiet prints the token alone
(an access key as ID:SECRET); --json prints one JSON object per line`

/** The command line is invalid. */
export class UsageError extends Error {}

interface KeysCli {
  keys: Pick<ApiKeys, 'create' | 'list' | 'get' | 'revoke'>
  vault: Vault | undefined
  /** Called before a secret is sealed. Rejects if sealing is not allowed. */
  beforeSealing: () => Promise<void>
  /** The account of keys that are made without an account. */
  account: string
  audit: AuditLog
  print: (text: string) => void
  clock: () => number
}

/** Throws a UsageError. */
export async function runKeysCli(cli: KeysCli, [verb, ...args]: string[]): Promise<void> {
  if (verb === 'create') return create(cli, args)
  if (verb === 'list') return list(cli, args)
  if (verb === 'revoke') return revoke(cli, args)
  throw new UsageError(KEYS_USAGE)
}

const JSON_FLAG = { json: { type: 'boolean', default: false } } as const

async function create(cli: KeysCli, args: string[]): Promise<void> {
  const { values } = parsed(args, {
    name: { type: 'string' },
    scope: { type: 'string', multiple: true },
    prefix: { type: 'string', multiple: true },
    account: { type: 'string', default: cli.account },
    limit: { type: 'string' },
    aws: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    ...JSON_FLAG,
  })
  const given = NewKeyInput.safeParse({
    name: values.name,
    scopes: values.scope ?? [],
    prefixes: values.prefix ?? [],
    account: values.account,
    kind: values.aws ? 'aws' : 'native',
    maxRequestsPerSecond: values.limit === undefined ? null : Number(values.limit),
  })
  if (!given.success) throw new UsageError(problemsText(problemsOf(given.error)))
  const { name, scopes, prefixes = [], maxRequestsPerSecond = null, kind = 'native' } = given.data
  const wanted = { name, kind, scopes, prefixes, account: String(values.account), maxRequestsPerSecond }
  if (kind === 'aws') await cli.beforeSealing()
  const { record, shown } = makeKey(wanted, { vault: cli.vault, now: cli.clock() })
  await cli.keys.create(record)
  report(cli, 'keys create', record.id)
  const text = () => (values.quiet ? tokenText(shown) : createdText(record, shown))
  cli.print(values.json ? JSON.stringify({ ...keyView(record), ...shown }) : text())
}

/** The options of the command line, by the names of the members that they set. */
const OPTIONS = new Map([
  ['scopes', '--scope'],
  ['prefixes', '--prefix'],
  ['maxRequestsPerSecond', '--limit'],
])

function problemsText(problems: { path: string; message: string }[]): string {
  const lines = problems.map(({ path, message }) => {
    const member = path.split(/[.[]/)[0] ?? ''
    return `${OPTIONS.get(member) ?? `--${member}`} ${message}`
  })
  return [...lines, '', KEYS_USAGE].join('\n')
}

function tokenText(shown: Shown): string {
  return 'token' in shown ? shown.token : `${shown.accessKeyId}:${shown.secretAccessKey}`
}

function createdText({ id, scopes, prefixes, account }: ApiKeyRecord, shown: Shown): string {
  const names =
    prefixes.length === 0 ? 'every topic and queue' : `names that begin with ${prefixes.join(', ')}`
  const secret =
    'token' in shown
      ? [`  Authorization: Bearer ${shown.token}`]
      : [`  AWS_ACCESS_KEY_ID=${shown.accessKeyId}`, `  AWS_SECRET_ACCESS_KEY=${shown.secretAccessKey}`]
  return [
    `key ${id} of account ${account}: ${scopes.join(', ')} on ${names}. The token is shown this once:`,
    ...secret,
  ].join('\n')
}

async function list(cli: KeysCli, args: string[]): Promise<void> {
  const { values } = parsed(args, { account: { type: 'string' }, ...JSON_FLAG })
  const account = values.account === undefined ? {} : { account: String(values.account) }
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = await cli.keys.list({ limit: 100, ...account, ...(cursor && { cursor }) })
    for (const key of page.items) cli.print(values.json ? JSON.stringify(keyView(key)) : lineOf(key))
    cursor = page.nextCursor
  }
}

function lineOf({
  id,
  kind,
  account,
  scopes,
  prefixes,
  maxRequestsPerSecond,
  createdAt,
  name,
}: ApiKeyRecord): string {
  const limit = maxRequestsPerSecond === null ? '-' : `${maxRequestsPerSecond}/s`
  const made = new Date(createdAt).toISOString()
  return [id, kind, account, scopes.join(','), prefixes.join(',') || '*', limit, made, name].join('  ')
}

async function revoke(cli: KeysCli, args: string[]): Promise<void> {
  const { positionals, values } = parsed(args, JSON_FLAG)
  const [id] = positionals
  if (id === undefined || positionals.length > 1) throw new UsageError(KEYS_USAGE)
  if (!(await cli.keys.revoke(id))) throw new CommandError('notFound', `key ${id} does not exist`)
  report(cli, 'keys revoke', id)
  cli.print(values.json ? JSON.stringify({ deleted: id }) : `key ${id} is revoked`)
}

type Options = NonNullable<Parameters<typeof parseArgs>[0]>['options']

function parsed<const O extends NonNullable<Options>>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${KEYS_USAGE}`)
  }
}

function report({ audit }: KeysCli, action: string, id: string): void {
  reportChange(audit, {
    caller: null,
    who: 'command line',
    requestId: '',
    action,
    params: { id },
    status: 200,
  })
}
