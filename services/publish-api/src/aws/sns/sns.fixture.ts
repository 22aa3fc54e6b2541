/** A served API with the SDK's unmodified client of SNS. Tests of the protocol itself make raw requests. */
import { SNSClient } from '@aws-sdk/client-sns'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'
import { createApp } from '../../server/app.ts'
import { listen } from '../../server/server.ts'

export const ACCOUNT = '000000000000'
const REGION = 'us-east-1'

export interface SnsApi {
  api: TestApi
  endpoint: string
  client: SNSClient
  /** A client for another region or account. Its access key id is the account's twelve digits. */
  clientOf(who: { region?: string; account?: string }): SNSClient
  /** Makes an unsigned AWS Query request by POST. The version is added. */
  query(parameters: Record<string, string>): Promise<RawAnswer>
  /** Makes an unsigned AWS Query request by GET, as a browser follows a link. */
  follow(parameters: Record<string, string>): Promise<RawAnswer>
  stop(): Promise<void>
}

interface RawAnswer {
  status: number
  text: string
}

/** `settings` replace those of the test API. */
export async function startSnsApi(
  settings: Partial<ApiDeps['settings']> = {},
  options: Parameters<typeof startTestApi>[0] = {},
): Promise<SnsApi> {
  const api = await startTestApi(options)
  Object.assign(api.deps.settings, settings)
  const server = await listen(createApp(api.deps), { host: '127.0.0.1', port: 0 })
  const endpoint = `http://127.0.0.1:${server.port}`
  const clients: SNSClient[] = []
  const clientOf: SnsApi['clientOf'] = ({ region = REGION, account = 'test' }) => {
    const credentials = { accessKeyId: account, secretAccessKey: 'test' }
    const client = new SNSClient({ endpoint, region, credentials, maxAttempts: 1 })
    clients.push(client)
    return client
  }
  const answered = async (response: Response) => ({ status: response.status, text: await response.text() })
  return {
    api,
    endpoint,
    client: clientOf({}),
    clientOf,
    query: async (parameters) => {
      const body = new URLSearchParams({ Version: '2010-03-31', ...parameters })
      return answered(await fetch(`${endpoint}/`, { method: 'POST', body }))
    },
    follow: async (parameters) => answered(await fetch(`${endpoint}/?${new URLSearchParams(parameters)}`)),
    async stop() {
      for (const client of clients) client.destroy()
      await server.close()
      await api.stop()
    },
  }
}

export function topicArn(name: string): string {
  return `arn:aws:sns:${REGION}:${ACCOUNT}:${name}`
}

export function queueArn(name: string): string {
  return `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`
}

/** The name and text of the error with which a call was refused. */
export async function refusalOf(
  call: Promise<unknown>,
): Promise<{ name: string; message: string; status: number }> {
  try {
    await call
  } catch (error) {
    const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } }
    return { name, message, status: $metadata?.httpStatusCode ?? 0 }
  }
  throw new Error('was not refused')
}
