/** `fantail event-types` shows and changes the catalogue of a topic, imports one, and writes types for TypeScript. */
import {
  deleteEventType,
  type EventType,
  type EventTypeImportResult,
  getEventType,
  importEventTypes,
  listEventTypes,
  putEventType,
} from '@fantail/client/api'
import type { Command } from 'commander'
import { parse } from 'yaml'
import { type CommandContext, type Define, type Does, examples } from '../../frame/command-context.ts'
import { readObject, readText } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { addList } from '../../frame/list-command.ts'
import { CommandError } from '../../output/exit-codes.ts'
import { counted, fieldsText } from '../../output/text-table.ts'
import { catalogueTypes } from './catalogue-types.ts'

export const eventTypes: Define = (command, does) => {
  addList(command, does, {
    summary: 'list the event types of a topic',
    words: '<topic>',
    read: async (client, _, [topic = '']) => ({
      ...(await listEventTypes({ client, path: { topic } })),
      nextCursor: null,
    }),
    items: (page) => page.eventTypes,
    columns: [
      { title: 'TYPE', of: (row) => row.name },
      { title: 'VERSION', of: (row) => row.version ?? '' },
      { title: 'STATE', of: (row) => (row.deprecated ? 'deprecated' : '') },
      { title: 'DESCRIPTION', of: (row) => row.description ?? '' },
    ],
    examples: ['event-types list orders'],
  })
  defineGet(command, does)
  defineSet(command, does)
  defineRemove(command, does)
  defineImport(command, does)
  defineTypeScript(command, does)
}

function defineGet(command: Command, does: Does): void {
  const get = command.command('get').description('show an event type with its schema')
  get
    .argument('<topic>', 'name or ARN')
    .argument('<type>', 'its name')
    .option('--version <n>', 'an older version of the schema')
    .action(
      does(async (context, topic: string, name: string, { version }: { version?: string }) => {
        const query = version === undefined ? {} : { version: Number(version) }
        show(context, await getEventType({ client: await context.api(), path: { topic, name }, query }))
      }),
    )
  examples(get, 'event-types get orders order.paid', 'event-types get orders order.paid --version 1 --json')
}

interface SetFlags {
  description?: string
  schema?: string
  example?: string
  deprecated?: boolean
}

function defineSet(command: Command, does: Does): void {
  const set = command.command('set').description('make an event type, or change its members')
  set
    .argument('<topic>', 'name or ARN')
    .argument('<type>', 'its name, such as order.paid')
    .option('--description <text>', 'what it means, for people')
    .option('--schema <json>', 'its JSON Schema, as JSON, @FILE, or - for stdin')
    .option('--example <json>', 'a message of this type, as JSON or @FILE; replaces the examples')
    .option('--deprecated', 'publishers get a warning')
    .option('--no-deprecated', 'they get none')
    .action(
      does(async (context, topic: string, name: string, flags: SetFlags) => {
        const { description, schema, example, deprecated } = flags
        const body = {
          ...(description !== undefined && { description }),
          ...(schema !== undefined && { schema: await readObject(schema, '--schema', context) }),
          ...(example !== undefined && { examples: [await readObject(example, '--example', context)] }),
          ...(deprecated !== undefined && { deprecated }),
        }
        show(context, await putEventType({ client: await context.api(), path: { topic, name }, body }))
      }),
    )
  examples(
    set,
    `event-types set orders order.paid --schema '{"type":"object","required":["id"]}'`,
    'event-types set orders order.paid --schema @order-paid.json --example @example.json',
    'event-types set orders order.payed --deprecated',
  )
}

function defineRemove(command: Command, does: Does): void {
  const remove = command.command('rm').description('delete event types with all versions')
  remove
    .argument('<topic>', 'name or ARN')
    .argument('<types...>', 'their names')
    .action(
      does(async (context, topic: string, names: string[]) => {
        await confirm(`delete the event types ${names.join(', ')} of ${topic}`, context)
        const client = await context.api()
        for (const name of names) {
          await deleteEventType({ client, path: { topic, name } })
          context.out.item({ deleted: name }, () => `deleted ${name}`, name)
        }
      }),
    )
  examples(remove, 'event-types rm orders order.payed --yes')
}

function defineImport(command: Command, does: Does): void {
  const imports = command.command('import').description('import the webhooks of an OpenAPI 3.1 file')
  imports
    .argument('<topic>', 'name or ARN')
    .argument('<file>', 'YAML or JSON; - is stdin. Nothing that it refers to is fetched')
    .option('--plan', 'only shows what would be done; exit code 9 if there is anything')
    .action(
      does(async (context, topic: string, file: string, { plan = false }: { plan?: boolean }) => {
        const document = documentIn(await readText(file === '-' ? '-' : `@${file}`, context), file)
        const body = { document, dryRun: plan }
        const result = await importEventTypes({ client: await context.api(), path: { topic }, body })
        context.out.item(result, () => changesText(result))
        return plan && result.changes.some(({ change }) => change !== 'none') ? 'differs' : 'done'
      }),
    )
  examples(imports, 'event-types import orders openapi.yaml --plan', 'event-types import orders openapi.yaml')
}

/** The server reads only these parts. The paths of an API may be much larger. */
function documentIn(text: string, file: string): Record<string, unknown> {
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    throw new CommandError('usage', `${file} is neither YAML nor JSON: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CommandError('usage', `${file} is not an OpenAPI document`)
  const { openapi, webhooks, components } = value as Record<string, unknown>
  return { openapi, webhooks, ...(components !== undefined && { components }) }
}

const SIGNS = { create: '+', update: '~', none: '=' }

function changesText({ applied, changes }: EventTypeImportResult): string {
  const lines = changes.map(({ name, change, members }) =>
    `${SIGNS[change]} ${name} ${change === 'update' ? members.join(', ') : ''}`.trimEnd(),
  )
  const changed = changes.filter(({ change }) => change !== 'none').length
  return [...lines, `${counted(changed, 'change')}${applied ? '' : ' planned'}`].join('\n')
}

function defineTypeScript(command: Command, does: Does): void {
  const types = command.command('typescript').description('write types of all messages of a topic')
  types.argument('<topic>', 'name or ARN').action(
    does(async (context, topic: string) => {
      const client = await context.api()
      const { eventTypes: all } = await listEventTypes({ client, path: { topic } })
      const found: EventType[] = []
      for (const { name } of all) found.push(await getEventType({ client, path: { topic, name } }))
      const source = catalogueTypes(topic, found)
      context.out.item({ source }, () => source)
    }),
  )
  examples(types, 'event-types typescript orders > orders-events.ts')
}

function show({ out }: CommandContext, type: EventType): void {
  out.item(
    type,
    () =>
      fieldsText([
        ['type', type.name],
        ['description', type.description],
        ['deprecated', type.deprecated ? 'yes' : null],
        ['version', type.schemaVersion],
        ['schema', type.schema === null ? null : JSON.stringify(type.schema)],
        [
          'examples',
          type.examples.length === 0 ? null : type.examples.map((one) => JSON.stringify(one)).join('\n'),
        ],
        ['changed', type.modifiedAt],
      ]),
    type.name,
  )
}
