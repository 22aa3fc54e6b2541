/** Schemas of text messages over REST: settings, spend and the opt-out list. */
import { z } from 'zod'
import { named, namedInput, pageOf, pageQuery } from './shared-schemas.ts'

export const NumberReference = z.string().describe('A phone number by E.164: `+15550100`.')

const SENDER_ID = /^(?=.*[A-Za-z])[A-Za-z0-9]{1,11}$/
const SMS_TYPES = ['Promotional', 'Transactional'] as const

export const SmsChanges = namedInput(
  'SmsChanges',
  z
    .strictObject({
      monthlySpendLimitUsd: z
        .int()
        .min(0)
        .optional()
        .describe('Bound of the cost of a month’s messages; at most FANTAIL_SMS_MONTH_USD.'),
      defaultSenderId: z
        .string()
        .regex(SENDER_ID, 'must be 1 to 11 letters and digits, with a letter')
        .optional()
        .describe(
          'Sender of messages without `AWS.SNS.SMS.SenderID`: 1 to 11 letters and digits, with a letter.',
        ),
      defaultSmsType: z
        .enum(SMS_TYPES)
        .optional()
        .describe('Type of messages without `AWS.SNS.SMS.SMSType`. The provider’s template may pass it on.'),
    })
    .meta({
      description: 'Settings of text messages to be changed; others stay.',
      examples: [{ monthlySpendLimitUsd: 1, defaultSmsType: 'Transactional' }],
    }),
)

export const SmsView = named(
  'Sms',
  z
    .object({
      monthlySpendLimitUsd: z.int().describe('Bound of the cost of a month’s messages (UTC).'),
      spentTodayUsd: z.number().describe('Cost of this day’s messages (UTC), by the prices of the settings.'),
      spentThisMonthUsd: z.number().describe('Cost of this month’s messages (UTC).'),
      defaultSenderId: z
        .string()
        .nullable()
        .describe('Sender of messages that name none; null: none is set.'),
      defaultSmsType: z.enum(SMS_TYPES).describe('Type of messages that name none.'),
    })
    .meta({
      description: 'Settings of text messages, and what was spent.',
      examples: [
        {
          monthlySpendLimitUsd: 1,
          spentTodayUsd: 0.1,
          spentThisMonthUsd: 0.3,
          defaultSenderId: null,
          defaultSmsType: 'Promotional',
        },
      ],
    }),
)

export const OptOutView = named(
  'OptOut',
  z.object({ number: z.string().describe('The number, as `+` and digits.') }).meta({
    description: 'A phone number that gets no text messages.',
    examples: [{ number: '+15550100' }],
  }),
)
export const OptOutListQuery = z.strictObject(pageQuery)
export const OptOutList = named('OptOutList', pageOf('optOuts', OptOutView))
