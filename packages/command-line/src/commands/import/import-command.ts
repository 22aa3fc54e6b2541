/** `fantail import` takes topics, subscriptions and queues over from another service. */
import { type Define, examples } from '../../frame/command-context.ts'
import { collect } from '../../frame/command-input.ts'
import { type ImportFlags, runImport } from './plan/run-import.ts'

export const importFrom: Define = (command, does) => {
  const sns = command.command('sns').description('take over topics and queues of an AWS account')
  sns
    .option(
      '--plan',
      'only shows what comes over, what changes and what is lost; exit code 9 if there are changes',
    )
    .option('--document', 'only prints the file for `fantail apply`')
    .option(
      '--region <region>',
      'a region of the account (again for more); default: that of the AWS settings',
      collect,
    )
    .option('--topic-prefix <text>', 'only topics whose names begin with it, and the queues behind them')
    .option('--endpoint <url>', 'another address than that of AWS, for both SNS and SQS')
    .action(
      does(async (context, { topicPrefix, region, endpoint, ...flags }: SnsFlags) => {
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
  )
}

interface SnsFlags extends ImportFlags {
  region?: string[]
  topicPrefix?: string
  endpoint?: string
}
