/**
 * A topic's access policy: it is stored, shown, and changed by statement. packages/access/src/access.ts enforces it.
 */
import { parseArn, type TopicRecord } from '@fantail/contracts'
import { TOPIC_OWNER_ACTIONS } from '@fantail/policy'

export interface Statement {
  Sid?: unknown
  Action?: unknown
  [member: string]: unknown
}

export interface AccessPolicy {
  Statement?: Statement[] | Statement
  [member: string]: unknown
}

/** The topic's own policy, or else the default one. */
export function accessPolicyOf({ arn, attributes }: Pick<TopicRecord, 'arn' | 'attributes'>): string {
  return attributes.Policy ?? JSON.stringify(defaultPolicy(arn))
}

export function statementsOf({ Statement = [] }: AccessPolicy): Statement[] {
  return Array.isArray(Statement) ? Statement : [Statement]
}

function defaultPolicy(arn: string): AccessPolicy {
  return {
    Version: '2008-10-17',
    Id: '__default_policy_ID',
    Statement: [
      {
        Sid: '__default_statement_ID',
        Effect: 'Allow',
        Principal: { AWS: '*' },
        Action: TOPIC_OWNER_ACTIONS.map((action) => `SNS:${action}`),
        Resource: arn,
        Condition: { StringEquals: { 'AWS:SourceOwner': parseArn(arn)?.account } },
      },
    ],
  }
}
