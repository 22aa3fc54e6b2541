/** `fantail apps` and `fantail endpoints`: push platforms and the devices behind them. */
import {
  createPlatformEndpoint,
  deletePlatformApplication,
  deletePlatformEndpoint,
  getPlatformApplication,
  getPlatformEndpoint,
  listPlatformApplications,
  listPlatformEndpoints,
  type PlatformApplication,
  type PlatformEndpoint,
  putPlatformApplication,
  updatePlatformEndpoint,
} from '@fantail/client/api'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { readText } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { addList } from '../../frame/list-command.ts'
import { readSettings, type SettingsFlags, withSettings } from '../../frame/settings-input.ts'
import { CommandError } from '../../output/exit-codes.ts'
import { fieldsText } from '../../output/text-table.ts'

type Platform = PlatformApplication['platform']

/** `GCM/shop`: the platform and the name. */
function appPath(text: string): { platform: Platform; name: string } {
  const [platform, name, ...more] = text.split('/')
  if (platform && name && more.length === 0) return { platform: platform as Platform, name }
  throw new CommandError('usage', `an application is PLATFORM/NAME such as GCM/shop, not ${text}`)
}

export const apps: Define = (command, does) => {
  addList(command, does, {
    summary: 'list platform applications',
    read: (client, query) => listPlatformApplications({ client, query }),
    items: (page) => page.applications,
    columns: [
      { title: 'APPLICATION', of: (row) => `${row.platform}/${row.name}` },
      { title: 'ENABLED', of: (row) => (row.enabled ? 'yes' : 'no') },
      { title: 'CREATED', of: (row) => row.createdAt },
    ],
    examples: ['apps list'],
  })
  const get = command.command('get').description('show one application').argument('<app>', 'PLATFORM/NAME')
  get.action(
    does(async (context, app: string) =>
      showApp(context, await getPlatformApplication({ client: await context.api(), path: appPath(app) })),
    ),
  )
  examples(get, 'apps get GCM/shop')
  const set = withSettings(command.command('set').description('make or change an application'))
  set
    .argument('<app>', 'PLATFORM/NAME; platforms: GCM, APNS, APNS_SANDBOX, WEBPUSH')
    .option('--credential <file>', 'the credential: @FILE, or - for stdin')
    .action(
      does(async (context, app: string, flags: SettingsFlags & { credential?: string }) => {
        const { credential } = flags
        const body = {
          ...(await readSettings(flags, context)),
          ...(credential !== undefined && { credential: await readText(credential, context) }),
        }
        const client = await context.api()
        showApp(context, await putPlatformApplication({ client, path: appPath(app), body }))
      }),
    )
  examples(
    set,
    'apps set GCM/shop --credential @service-account.json',
    'apps set APNS/shop --credential @key.p8 --set principal=ABC123DEFG --set teamId=DEF123GHIJ --set bundleId=com.example',
  )
  const remove = command.command('rm').description('delete an application with its endpoints')
  remove.argument('<app>', 'PLATFORM/NAME').action(
    does(async (context, app: string) => {
      await confirm(`delete ${app} with all its endpoints`, context)
      await deletePlatformApplication({ client: await context.api(), path: appPath(app) })
      context.out.item({ deleted: app }, () => `deleted ${app}`, app)
    }),
  )
  examples(remove, 'apps rm GCM/shop --yes')
}

function showApp({ out }: CommandContext, app: PlatformApplication): void {
  const name = `${app.platform}/${app.name}`
  out.item(
    app,
    () =>
      fieldsText([
        ['application', name],
        ['arn', app.arn],
        ['enabled', app.enabled ? 'yes' : 'no'],
        ['created', app.createdAt],
      ]),
    name,
  )
}

export const endpoints: Define = (command, does) => {
  addList(command, does, {
    summary: 'list the endpoints of an application',
    words: '<app>',
    read: (client, query, [app = '']) => listPlatformEndpoints({ client, path: appPath(app), query }),
    items: (page) => page.endpoints,
    columns: [
      { title: 'ENDPOINT', of: (row) => row.id },
      { title: 'ENABLED', of: (row) => (row.enabled ? 'yes' : 'no') },
      { title: 'USER DATA', of: (row) => row.userData },
    ],
    examples: ['endpoints list GCM/shop'],
  })
  const at = async (context: CommandContext, app: string) => ({
    client: await context.api(),
    path: appPath(app),
  })
  const add = command.command('add').description('make an endpoint for a device')
  add
    .argument('<app>', 'PLATFORM/NAME')
    .argument('<token>', 'the token of the device; @FILE, or - for stdin')
    .option('--user-data <text>', 'text that is kept with it')
    .action(
      does(async (context, app: string, token: string, { userData }: { userData?: string }) => {
        const body = {
          token: (await readText(token, context)).trim(),
          ...(userData !== undefined && { userData }),
        }
        showEndpoint(context, await createPlatformEndpoint({ ...(await at(context, app)), body }))
      }),
    )
  examples(add, 'endpoints add GCM/shop dQw4w9WgXcQ --user-data customer-7')
  const get = command.command('get').description('show one endpoint')
  get
    .argument('<app>', 'PLATFORM/NAME')
    .argument('<id>', 'id of the endpoint')
    .action(
      does(async (context, app: string, id: string) => {
        const { client, path } = await at(context, app)
        showEndpoint(context, await getPlatformEndpoint({ client, path: { ...path, id } }))
      }),
    )
  examples(get, 'endpoints get GCM/shop 5f0c1e4e-…')
  const set = withSettings(command.command('set').description('change an endpoint'))
  set
    .argument('<app>', 'PLATFORM/NAME')
    .argument('<id>', 'id of the endpoint')
    .action(
      does(async (context, app: string, id: string, flags: SettingsFlags) => {
        const { client, path } = await at(context, app)
        const body = await readSettings(flags, context)
        showEndpoint(context, await updatePlatformEndpoint({ client, path: { ...path, id }, body }))
      }),
    )
  examples(set, 'endpoints set GCM/shop 5f0c1e4e-… --set enabled:=true')
  const remove = command.command('rm').description('delete endpoints')
  remove
    .argument('<app>', 'PLATFORM/NAME')
    .argument('<ids...>', 'ids of endpoints')
    .action(
      does(async (context, app: string, ids: string[]) => {
        await confirm(`delete ${ids.length} endpoints of ${app}`, context)
        const { client, path } = await at(context, app)
        for (const id of ids) {
          await deletePlatformEndpoint({ client, path: { ...path, id } })
          context.out.item({ deleted: id }, () => `deleted ${id}`, id)
        }
      }),
    )
  examples(remove, 'endpoints rm GCM/shop 5f0c1e4e-… --yes')
}

function showEndpoint({ out }: CommandContext, endpoint: PlatformEndpoint): void {
  const { id, arn, enabled, userData, createdAt } = endpoint
  out.item(
    endpoint,
    () =>
      fieldsText([
        ['endpoint', id],
        ['arn', arn],
        ['enabled', enabled ? 'yes' : 'no'],
        ['user data', userData],
        ['created', createdAt],
      ]),
    id,
  )
}
