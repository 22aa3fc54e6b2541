/** Attributes of text messages that callers set: SNS's names, values and texts of refusals. */
import type { ApiDeps } from '../deps/api-deps.ts'

type IsRight = (text: string, monthUsdMax: number) => boolean

const isRoleArn: IsRight = (text) => /^arn:[a-z-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/.test(text)

/**
 * The attributes of SetSMSAttributes, each with a check of its value. UsageReportS3Bucket is stored and shown, but has
 * no effect.
 */
const ATTRIBUTES: Record<string, IsRight> = {
  MonthlySpendLimit: (text, monthUsdMax) => /^\d{1,7}$/.test(text) && Number(text) <= monthUsdMax,
  DeliveryStatusIAMRole: isRoleArn,
  DeliveryStatusSuccessSamplingRate: (text) => /^\d{1,3}$/.test(text) && Number(text) <= 100,
  DefaultSenderID: (text) => /^(?=.*[A-Za-z])[A-Za-z0-9]{1,11}$/.test(text),
  DefaultSMSType: (text) => text === 'Promotional' || text === 'Transactional',
  UsageReportS3Bucket: (text) => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text),
}

/** The error if the attribute cannot have this value, else undefined. */
export function attributeProblem(name: string, value: string, monthUsdMax: number): string | undefined {
  const isRight = Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : undefined
  if (!isRight) return `${name} is not a valid attribute`
  return isRight(value, monthUsdMax) ? undefined : `${name} is invalid`
}

/** The attributes in force. If nobody has set MonthlySpendLimit, it shows the operator's limit for a month. */
export async function smsAttributes({
  sms,
  settings,
}: Pick<ApiDeps, 'sms' | 'settings'>): Promise<Record<string, string>> {
  return { MonthlySpendLimit: String(settings.smsMonthUsd), ...(await sms.attributes()) }
}
