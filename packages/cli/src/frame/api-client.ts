/** The client of the API that every command uses. Failures become errors with an exit code. */
import { type Client, createClient } from '@fantail/client/api'
import { ApiRefusal, Unreachable } from '../output/exit-codes.ts'
import { fetchAgain } from './fetch-again.ts'

interface ApiOptions {
  url: string
  apiKey: string | undefined
  /** Ends every request. */
  signal: AbortSignal
}

export function connectApi({ url, apiKey, signal }: ApiOptions): Client {
  const client = createClient({
    baseUrl: url,
    throwOnError: true,
    responseStyle: 'data',
    signal,
    fetch: fetchAgain(signal),
    ...(apiKey !== undefined && { auth: apiKey }),
  })
  client.interceptors.error.use((error, response) => failureOf(error, response, { url, signal }))
  return client
}

interface Asked {
  url: string
  signal: AbortSignal
}

function failureOf(error: unknown, response: Response | undefined, { url, signal }: Asked): unknown {
  if (signal.aborted) return signal.reason
  if (!response) return new Unreachable(`${url} does not answer: ${causeOf(error)}`, { cause: error })
  return refusalOf(error, response.status, url)
}

/** The refusal in the body of an answer. Other servers have another body. */
export function refusalOf(answer: unknown, status: number, url: string): ApiRefusal | Unreachable {
  const body = answer as
    | { error?: { code?: string; message?: string; details?: [] }; requestId?: string }
    | undefined
  const { code, message, details = [] } = body?.error ?? {}
  if (code === undefined || message === undefined) {
    return new Unreachable(`${url} answers ${status}, but it is not the API of Fantail`)
  }
  return new ApiRefusal(status, { code, message, details, requestId: body?.requestId })
}

/** fetch hides the reason in the cause. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof AggregateError) return causeOf(error.cause.errors[0])
  return error.cause === undefined ? error.message : causeOf(error.cause)
}
