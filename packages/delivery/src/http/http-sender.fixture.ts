/** A sender for tests, whose attempts can be awaited. */
import type { AttemptResult } from '@fantail/contracts'
import type { HttpRequest } from './http-request.ts'
import { createHttpSender, type HttpSender, type HttpSenderOptions } from './http-sender.ts'

export interface TestSender extends HttpSender {
  attempt(request: HttpRequest): Promise<AttemptResult>
}

export function createTestSender(options: HttpSenderOptions): TestSender {
  const sender = createHttpSender(options)
  return { ...sender, attempt: (request) => new Promise((resolve) => sender.send(request, resolve)) }
}
