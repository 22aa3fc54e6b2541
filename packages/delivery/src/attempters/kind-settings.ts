/**
 * Settings of all protocols, under their names in the configuration of worker and API. Each protocol declares the
 * settings that it needs, all of them optional. This type has all of them.
 */
import type { MailSettings } from '../mail/mail-settings.ts'
import type { SmsSettings } from '../sms/sms-settings.ts'
import type { FunctionKindSettings } from './function-attempter.ts'
import type { PushKindSettings } from './push-attempter.ts'
import type { StreamKindSettings } from './stream-attempter.ts'

export interface KindSettings
  extends FunctionKindSettings,
    StreamKindSettings,
    MailSettings,
    SmsSettings,
    PushKindSettings {}
