/** A transport in the form that the generated functions call. */

import { framesIn } from '../events/event-frames.ts'
import type { Client } from '../generated/client/index.ts'
import type { CoreRequest, Method } from './core-request.ts'
import type { Transport } from './transport.ts'

/** The data of a stream's events alone, over one connection. `Fantail.events` has more. */
async function* dataOf(transport: Transport, request: CoreRequest): AsyncGenerator<unknown, void, undefined> {
  for await (const { data } of framesIn(await transport.open(request), () => undefined)) yield data
}

export function coreClient(transport: Transport): Client {
  const by = (method: Method) => (request: CoreRequest) => transport.send(method, request)
  const methods = {
    get: by('GET'),
    put: by('PUT'),
    post: by('POST'),
    patch: by('PATCH'),
    delete: by('DELETE'),
    sse: { get: async (request: CoreRequest) => ({ stream: dataOf(transport, request) }) },
  }
  // The functions use nothing else of a client.
  return methods as unknown as Client
}
