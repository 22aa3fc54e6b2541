/**
 * The providers of all endpoint kinds except webhooks and queues: their answers, the messages that they took, and the
 * settings with which the services find them.
 */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { startReceiver } from '@fantail/test-kit'
import {
  answerAs,
  answerAsStream,
  FUNCTION_PATH,
  HTTP_PROVIDERS,
  PUSH_TOKEN_PATH,
  SMS_PATH,
  STREAM_PATH,
} from './http-providers.ts'
import { type MailProvider, startMailProvider } from './mail-provider.ts'
import { ProviderRecord } from './provider-record.ts'

export const FUNCTION_NAME = 'chaos'
export const STREAM_NAME = 'chaos-stream'
export const FOLDER_NAME = 'chaos-folder'

export const PROVIDERS = ['function', 'stream', 'mail', 'sms', 'push'] as const
export type ProviderName = (typeof PROVIDERS)[number]

export interface Providers {
  env: Record<string, string>
  mail: Pick<MailProvider, 'tokenFor'>
  /** By the name of the endpoint. */
  records(): Record<string, Pick<ProviderRecord, 'requested' | 'delivered'>>
  /** From now on only these providers answer nothing. */
  hang(...names: ProviderName[]): void
  stop(): Promise<void>
}

export async function startProviders(): Promise<Providers> {
  let hung: ProviderName[] = []
  const receiver = await startReceiver()
  const mail = await startMailProvider(() => hung.includes('mail'))
  const folder = mkdtempSync(join(tmpdir(), 'fantail-chaos-stream-'))
  const own = { function: new ProviderRecord(), sms: new ProviderRecord(), push: new ProviderRecord() }
  for (const name of ['function', 'sms', 'push'] as const) {
    answerAs(receiver, HTTP_PROVIDERS[name], { record: own[name], isHung: () => hung.includes(name) })
  }
  const stream = new ProviderRecord()
  answerAsStream(receiver, { record: stream, isHung: () => hung.includes('stream') })
  const token = JSON.stringify({ access_token: 'chaos', expires_in: 3_600 })
  receiver.respond(PUSH_TOKEN_PATH, { status: 200, body: token })
  const places = { [STREAM_NAME]: `${receiver.url}${STREAM_PATH}`, [FOLDER_NAME]: `file://${folder}` }
  return {
    env: {
      FANTAIL_FUNCTIONS: JSON.stringify({ [FUNCTION_NAME]: `${receiver.url}${FUNCTION_PATH}` }),
      FANTAIL_STREAMS: JSON.stringify(places),
      FANTAIL_SMTP_URL: mail.server.url,
      FANTAIL_SMS_URL: `${receiver.url}${SMS_PATH}`,
      FANTAIL_SMS_BODY: '{"to":"{number}","text":"{message}"}',
      FANTAIL_SMS_COUNTRIES: '+1=0.01',
      FANTAIL_SMS_MONTH_USD: '1000000',
      FANTAIL_FCM_URL: receiver.url,
      FANTAIL_FCM_TOKEN_URL: `${receiver.url}${PUSH_TOKEN_PATH}`,
    },
    mail,
    records: () => ({ ...own, stream, ...mail.records, folder: readFolder(folder) }),
    hang(...names) {
      hung = names
    },
    async stop() {
      await Promise.all([receiver.close(), mail.server.close()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The records of all complete objects. A repeated object has the name of the first, so each text counts once. */
function readFolder(folder: string): ProviderRecord {
  const record = new ProviderRecord()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.gz')) continue
    for (const line of gunzipSync(readFileSync(join(folder, name)))
      .toString()
      .split('\n')) {
      if (line !== '') record.took(JSON.parse(line).Message)
    }
  }
  return record
}
