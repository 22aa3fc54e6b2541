/** `fantail import` takes topics, subscriptions and queues over from another service. */
import type { Command } from 'commander'
import { type CommandContext, type Define, type Does, examples } from '../../frame/command-context.ts'
import { collect, readPairs, readText } from '../../frame/command-input.ts'
import { CommandError } from '../../output/exit-codes.ts'
import { type ImportFlags, runImport } from './plan/run-import.ts'
import type { SvixFlags } from './svix/import-svix.ts'

const PLAN = 'only shows what comes over, what changes and what is lost; exit code 9 if there are changes'
const DOCUMENT = 'only prints the file for `fantail apply -f FILE`'

export const importFrom: Define = (command, does) => {
  defineSns(command, does)
  defineSvix(command, does)
}

function defineSns(command: Command, does: Does): void {
  const sns = command.command('sns').description('take over topics and queues of an AWS account')
  sns
    .option(
      '--from <file>',
      'instead of an account: a Terraform state or plan, or a CloudFormation template; - is stdin',
    )
    .option('--parameter <name=value>', 'with --from: a parameter of the template (again for more)', collect)
    .option('--account <id>', 'with --from: the account, where the file does not say it')
    .option('--plan', PLAN)
    .option('--document', DOCUMENT)
    .option(
      '--region <region>',
      'a region of the account (again for more); default: that of the AWS settings',
      collect,
    )
    .option('--topic-prefix <text>', 'only topics whose names begin with it, and the queues behind them')
    .option('--endpoint <url>', 'another address than that of AWS, for both SNS and SQS')
    .action(
      does(async (context, { from, account, parameter, ...given }: SnsFlags) => {
        if (from !== undefined) return importFile(context, { from, account, parameter, ...given })
        if (account !== undefined || parameter !== undefined)
          throw new CommandError('usage', '--account and --parameter are for --from')
        const { topicPrefix, region, endpoint, ...flags } = given
        // The AWS SDK is large, and no other command needs it.
        const [{ readAws }, { importSns }] = await Promise.all([
          import('./sns/read-aws.ts'),
          import('./sns/import-sns.ts'),
        ])
        return runImport(context, flags, {
          read: () => readAws(context, { regions: region ?? [], endpoint, topicPrefix }),
          convert: importSns,
        })
      }),
    )
  examples(
    sns,
    'import sns --plan',
    'import sns --region eu-west-1 --region us-east-1',
    'import sns --topic-prefix shop- --yes',
    'import sns --document > sns.json',
    'import sns --from terraform.tfstate --plan',
    'import sns --from template.yaml --parameter Stage=prod --region eu-west-1',
  )
}

function defineSvix(command: Command, does: Does): void {
  const svix = command.command('svix').description('take over applications and endpoints of Svix')
  svix
    .option('--plan', PLAN)
    .option('--document', DOCUMENT)
    .option('--from <url>', 'the address of its API; default: SVIX_SERVER_URL, or the service of the token')
    .option('--token <text>', 'its token, as @FILE or - for stdin; default: SVIX_AUTH_TOKEN')
    .action(
      does(async (context, { from, token, ...flags }: SvixFlags & ImportFlags) => {
        const { readSvix, importSvix } = await import('./svix/import-svix.ts')
        return runImport(context, flags, {
          read: () => readSvix(context, { from, token }),
          convert: importSvix,
        })
      }),
    )
  examples(
    svix,
    'import svix --plan',
    'import svix --token @svix-token.txt --yes',
    'import svix --from https://svix.example.com',
  )
}

/** The file comes first, because a mistake in its name needs no server. */
async function importFile(context: CommandContext, { from, ...given }: SnsFlags & { from: string }) {
  const { region, account, parameter = [], topicPrefix = '', endpoint, ...flags } = given
  if (endpoint !== undefined || (region?.length ?? 0) > 1)
    throw new CommandError('usage', '--from takes one --region and no --endpoint')
  const text = await readText(from === '-' ? '-' : `@${from}`, context)
  const [{ readOffline }, { importSns }] = await Promise.all([
    import('./offline/read-offline.ts'),
    import('./sns/import-sns.ts'),
  ])
  return runImport(context, flags, {
    read: async () => text,
    convert: (file, here) => {
      const { server, key } = here
      const place = {
        partition: server.partition,
        region: region?.[0] ?? server.region,
        account: account ?? key?.account ?? server.account,
      }
      const parameters = readPairs(parameter, '--parameter') as Record<string, string>
      const options = { file: from === '-' ? 'stdin' : from, place, parameters, topicPrefix }
      return importSns(readOffline(file, options), here)
    },
  })
}

interface SnsFlags extends ImportFlags {
  from?: string
  account?: string
  parameter?: string[]
  region?: string[]
  topicPrefix?: string
  endpoint?: string
}
