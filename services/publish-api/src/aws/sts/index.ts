/** The one operation of AWS STS that clients call to learn whose key they hold; every key may. */
import type { AwsCall, Operation } from '@fantail/aws-wire'

export function stsOperations(): Operation[] {
  return [
    {
      name: 'GetCallerIdentity',
      input: {},
      output: { Arn: 'string', UserId: 'string', Account: 'string' },
      run: async (_input, call) => identityOf(call),
    },
  ]
}

/** The key's user where keys are asked for, else the root of the account that the access key stands for. */
function identityOf({ principal, account }: AwsCall) {
  if (principal === undefined) {
    return { Arn: `arn:aws:iam::${account}:root`, UserId: account, Account: account }
  }
  return { Arn: principal, UserId: principal.slice(principal.lastIndexOf('/') + 1), Account: account }
}
