/** The one supported operation of AWS STS. Clients call it to learn whose key they have, and every key may do so. */
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

/** The key's user if keys are required, else the root of the account for which the access key stands. */
function identityOf({ principal, account }: AwsCall) {
  if (principal === undefined) {
    return { Arn: `arn:aws:iam::${account}:root`, UserId: account, Account: account }
  }
  return { Arn: principal, UserId: principal.slice(principal.lastIndexOf('/') + 1), Account: account }
}
