/** Gives a transport the form that the generated functions expect. */

import type { Client } from '../generated/client/index.ts'
import type { CoreRequest, Method } from './core-request.ts'
import { framesIn } from './event-frames.ts'
import type { Transport } from './transport.ts'

/** Only the data of a stream's events, over one connection. `Fantail.events` also connects again and reports gaps. */
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
  // The generated functions use no other members of a client.
  return methods as unknown as Client
}
