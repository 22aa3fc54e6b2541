/** The policy statement that AddPermission adds, for topics and queues. */

interface Grant {
  service: 'SNS' | 'SQS'
  label: string
  /** ARN of the topic or queue. */
  arn: string
  accounts: string[]
  actions: string[]
}

/** A single value is written as a text, several as a list. */
export function grantStatement({ service, label, arn, accounts, actions }: Grant): Record<string, unknown> {
  const one = (values: string[]) => (values.length === 1 ? values[0] : values)
  return {
    Sid: label,
    Effect: 'Allow',
    Principal: { AWS: one(accounts.map((account) => `arn:aws:iam::${account}:root`)) },
    Action: one(actions.map((action) => `${service}:${action}`)),
    Resource: arn,
  }
}
