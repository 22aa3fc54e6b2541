/** The audit trail over REST. */
import { z } from 'zod'
import { named, pageQuery, TimestampInput, timestamp } from '../shared-schemas.ts'

/** @limit Text that a filter of the audit trail looks for. Past it: `validation_failed`. */
const AUDIT_FILTER_CHARS_MAX = 300

const text = () => z.string().min(1).max(AUDIT_FILTER_CHARS_MAX)

export const AuditListQuery = z.strictObject({
  key: text().optional().describe('Only lines of the key with this id; also `anonymous` or `command line`.'),
  action: text()
    .optional()
    .describe('Only lines whose action contains this text, in any case: `DELETE`, `SNS:CreateTopic`.'),
  resource: text()
    .optional()
    .describe('Only lines that name something whose name, id or ARN contains this text.'),
  since: TimestampInput.optional().describe(
    'Only what was asked for at this time or later: ISO 8601 with an offset.',
  ),
  ...pageQuery,
})

export const AuditList = named(
  'AuditList',
  z
    .object({
      entries: z
        .array(
          z.object({
            at: timestamp('When the change was asked for'),
            keyId: z
              .string()
              .describe('Id of the key. `anonymous`: the caller showed no valid key. `command line`.'),
            account: z.string().nullable().describe('Account of the key; null without a key.'),
            address: z.string().nullable().describe('Address of the caller; null: the command line.'),
            portal: z
              .string()
              .nullable()
              .describe('Id of the portal session that acted with the key; null: the key itself.'),
            action: z.string().describe('The route, or the operation of an AWS protocol.'),
            resource: z
              .record(z.string(), z.string())
              .describe('Names, ids and ARNs in the path or the request. Never values of settings.'),
            result: z.enum(['done', 'denied', 'failed']).describe('denied: the caller may not do it.'),
            status: z.int().describe('HTTP status of the answer.'),
            code: z.string().nullable().describe('Error code, if it was refused; else null.'),
            requestId: z.string().describe('The request, as in its answer and in the log. Empty: none.'),
            missed: z
              .int()
              .describe(
                'Lines just before this one that its process could not write here. The log has them.',
              ),
          }),
        )
        .describe('Lines of the audit log, newest first.'),
      nextCursor: z.string().nullable().describe('Given as `cursor`, it leads on; null: nothing is left.'),
      scannedTo: timestamp('When the oldest line that was looked at was made')
        .nullable()
        .describe('How far back this page looked, ISO 8601 in UTC. null: there is no line.'),
    })
    .meta({
      description: 'Requested changes, made or refused. The newest 10,000 are kept.',
      examples: [
        {
          entries: [
            {
              at: '2026-11-21T09:31:00.000Z',
              keyId: 'FKABCDEFGHIJKLMNOP23',
              account: '000000000000',
              address: '203.0.113.9',
              portal: null,
              action: 'DELETE /v1/subscriptions/{id}',
              resource: { id: '0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012' },
              result: 'done',
              status: 204,
              code: null,
              requestId: '5f0c2f1e-6d0e-4b61-9f3a-3c1d6a0e1b11',
              missed: 0,
            },
          ],
          nextCursor: null,
          scannedTo: '2026-11-21T09:31:00.000Z',
        },
      ],
    }),
)
